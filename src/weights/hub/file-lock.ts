// A lock file, so that two processes do not write to one partial download.
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 100;
const touchMs = 10_000;
const staleMs = 60_000;

async function isStale(path: string): Promise<boolean> {
  try {
    const [pid, host] = (await readFile(path, 'utf8')).split('@');
    if (host === hostname() && !isAlive(Number(pid))) return true;
    return Date.now() - (await stat(path)).mtimeMs > staleMs;
  } catch {
    // Gone in between: the next try will create it.
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Creates a lock file of this process; false when there is one. */
async function create(path: string): Promise<boolean> {
  try {
    await writeFile(path, `${process.pid}@${hostname()}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

// Whoever removes a stale lock holds a second one meanwhile and looks again: else two would remove it, the later one the fresh lock of the first.
async function removeStale(path: string): Promise<boolean> {
  const removal = `${path}.removal`;
  if (!(await create(removal))) {
    const age = Date.now() - ((await stat(removal).catch(() => undefined))?.mtimeMs ?? Date.now());
    if (age > staleMs) await rm(removal, { force: true });
    return false;
  }
  try {
    if (await isStale(path)) await rm(path, { force: true });
    return true;
  } finally {
    await rm(removal, { force: true });
  }
}

/**
 * Waits for the lock file, holds it while `body` runs and removes it. Locks of dead processes, and those untouched for a minute, are taken over.
 * @throws the signal's reason when aborted while waiting.
 */
export async function withFileLock<T>(
  path: string,
  signal: AbortSignal | undefined,
  body: () => Promise<T>,
): Promise<T> {
  for (;;) {
    signal?.throwIfAborted();
    if (await create(path)) break;
    if (!(await isStale(path)) || !(await removeStale(path))) {
      await sleep(pollMs, undefined, signal === undefined ? {} : { signal });
    }
  }
  const touch = setInterval(() => {
    utimes(path, new Date(), new Date()).catch(() => undefined);
  }, touchMs);
  touch.unref();
  try {
    return await body();
  } finally {
    clearInterval(touch);
    await rm(path, { force: true });
  }
}
