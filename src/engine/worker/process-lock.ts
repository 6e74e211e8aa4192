// A lock between processes that its holder's death frees, however it dies: an exclusive transaction on a small database
// file, which the operating system's file locks back.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection } from '../jobs/database.js';
import { LockHeldError } from '../jobs/errors.js';

const pollMs = 50;

/** A held lock; disposing of it frees it. */
export class ProcessLock implements Disposable {
  readonly #connection: ReturnType<typeof openConnection>;

  private constructor(connection: ReturnType<typeof openConnection>) {
    this.#connection = connection;
  }

  /**
   * Takes the lock, waiting for its holder up to `timeoutMs`.
   * @throws LockHeldError when it is still held then
   */
  static async take(path: string, timeoutMs = 0): Promise<ProcessLock> {
    mkdirSync(dirname(path), { recursive: true });
    const connection = openConnection(path);
    try {
      connection.pragma('busy_timeout = 0');
      const end = performance.now() + timeoutMs;
      while (!tryBegin(connection)) {
        if (performance.now() >= end) throw new LockHeldError(path, readHolder(path));
        await sleep(pollMs);
      }
      // Only for messages: who holds it.
      writeFileSync(holderPath(path), String(process.pid));
      return new ProcessLock(connection);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    if (!this.#connection.open) return;
    // Closing alone may leave the transaction to the garbage collector.
    this.#connection.exec('ROLLBACK');
    this.#connection.close();
  }
}

function tryBegin(connection: ReturnType<typeof openConnection>): boolean {
  try {
    connection.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return false;
    throw error;
  }
}

function holderPath(path: string): string {
  return `${path}.holder`;
}

function readHolder(path: string): string | null {
  try {
    return readFileSync(holderPath(path), 'utf8');
  } catch {
    return null;
  }
}
