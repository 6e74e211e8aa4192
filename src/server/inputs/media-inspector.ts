// Has files looked at by processes of their own, within limits of time and memory.
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../engine/package-info.js';
import { MediaError, type MediaErrorCode } from '../../media/index.js';
import type { Inspection, InspectionLimits } from './inspect-media.js';

export interface InspectionQuestion {
  readonly path: string;
  readonly limits: InspectionLimits;
}

export type InspectionAnswer =
  | { readonly ok: true; readonly inspection: Inspection }
  | { readonly ok: false; readonly code: MediaErrorCode | null; readonly message: string };

export interface InspectorOptions extends InspectionLimits {
  readonly timeoutMs: number;
  /** Resident memory of the process and what it starts. */
  readonly maxBytes?: number;
  /** Processes at a time. */
  readonly processes?: number;
}

const pollMs = 50;

/** A pool of inspecting processes; each looks at one file at a time and is kept for the next. */
export class MediaInspector implements Disposable {
  readonly #options: InspectorOptions;
  readonly #idle: ChildProcess[] = [];
  readonly #busy = new Set<ChildProcess>();
  readonly #waiting: (() => void)[] = [];

  constructor(options: InspectorOptions) {
    this.#options = options;
  }

  /**
   * Inspects a file.
   * @throws MediaError saying what is wrong with it; `timeout` or `too_large` where it took more than it may
   */
  async inspect(path: string): Promise<Inspection> {
    const { maxPixels, allowsAnyFfmpeg, ffmpeg } = this.#options;
    const child = await this.#take();
    let isSound = false;
    try {
      const answer = await this.#ask(child, { path, limits: { maxPixels, allowsAnyFfmpeg, ffmpeg } });
      isSound = true;
      if (answer.ok) return answer.inspection;
      throw new MediaError(answer.code ?? 'unreadable', answer.message.replaceAll(path, 'the file'));
    } finally {
      this.#giveBack(child, isSound);
    }
  }

  [Symbol.dispose](): void {
    for (const child of [...this.#idle, ...this.#busy]) kill(child);
    this.#idle.length = 0;
  }

  async #take(): Promise<ChildProcess> {
    const { processes = 2 } = this.#options;
    while (this.#busy.size >= processes) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const child = this.#idle.pop() ?? start();
    this.#busy.add(child);
    return child;
  }

  #giveBack(child: ChildProcess, isSound: boolean): void {
    this.#busy.delete(child);
    if (isSound && child.connected) this.#idle.push(child);
    else kill(child);
    this.#waiting.shift()?.();
  }

  #ask(child: ChildProcess, question: InspectionQuestion): Promise<InspectionAnswer> {
    const { timeoutMs, maxBytes = 2 ** 30 } = this.#options;
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => {
        clearTimeout(deadline);
        clearInterval(watch);
        child.removeAllListeners('message');
        child.removeAllListeners('exit');
        child.removeAllListeners('error');
        finish();
      };
      const giveUp = (code: MediaErrorCode, message: string) => settle(() => reject(new MediaError(code, message)));
      const deadline = setTimeout(
        () => giveUp('timeout', `the file took longer than ${timeoutMs / 1000} s to read; send a smaller one`),
        timeoutMs,
      );
      const watch = setInterval(() => {
        if (residentBytes(child.pid) > maxBytes) {
          giveUp('too_large', `the file took more than ${maxBytes} bytes of memory to read; send a smaller one`);
        }
      }, pollMs);
      child.once('message', (answer: InspectionAnswer) => settle(() => resolve(answer)));
      child.once('exit', () => giveUp('unreadable', 'the file could not be read: its reader broke down'));
      child.once('error', () => giveUp('unreadable', 'the file could not be read: its reader broke down'));
      child.send(question, (error) => {
        if (error) giveUp('unreadable', 'the file could not be read: its reader is gone');
      });
    });
  }
}

function start(): ChildProcess {
  const beside = fileURLToPath(new URL('./inspect-worker.js', import.meta.url));
  const entry = existsSync(beside) ? beside : join(packageRoot(), 'dist/server/inputs/inspect-worker.js');
  // A group of its own, so that an ffmpeg it started goes with it.
  const child = fork(entry, [], {
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: ['--max-old-space-size=256'],
  });
  child.unref();
  child.channel?.unref();
  return child;
}

function kill(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

/** Resident bytes of a process and its children, where the system says so. */
function residentBytes(pid: number | undefined): number {
  if (pid === undefined) return 0;
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    return [String(pid), ...children].reduce((sum, id) => sum + pagesOf(id) * 4096, 0);
  } catch {
    return 0;
  }
}

function pagesOf(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1] ?? 0);
  } catch {
    return 0;
  }
}
