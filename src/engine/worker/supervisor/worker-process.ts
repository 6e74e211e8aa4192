// One worker process as its parent sees it: started, listened to, watched, killed.
import { type ChildProcess, fork } from 'node:child_process';
import type { Readable } from 'node:stream';
import { beatDescriptor, type FromWorker, type ToWorker, type WorkerSetup } from '../messages.js';

/** What a worker process tells its owner. */
export interface WorkerListener {
  onMessage(message: FromWorker): void;
  /** A line that the worker printed. */
  onOutput(line: string): void;
  /** Called once, with why it ended. `clean`: it ended by itself with code 0. */
  onExit(reason: string, clean: boolean): void;
}

/** How much of what a worker said last goes into the reason of its death. */
const keptLines = 5;
const closeMs = 1000;

export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #lastErrors: string[] = [];
  #killReason: string | null = null;
  #beatAt: number | null = null;
  #residentBytes = 0;
  #peakBytes = 0;

  /** Forks the process. Call it on the main thread: its children die with the thread that made them. */
  constructor(entry: string, setup: WorkerSetup, listener: WorkerListener) {
    // In a group of its own, with whatever it starts, so that a terminal's Ctrl-C does not reach it and a kill reaches all.
    this.#child = fork(entry, [], {
      detached: true,
      // Flags of this process (a debugger's port, a loader) are not the worker's.
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
    });
    this.#listen(listener);
    this.send({ type: 'open', setup });
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  /** Milliseconds since the last beat; 0 before the first one. */
  get silentMs(): number {
    return this.#beatAt === null ? 0 : performance.now() - this.#beatAt;
  }

  get residentBytes(): number {
    return this.#residentBytes;
  }

  /** Most resident bytes since the last call. */
  takePeak(): number {
    const peak = this.#peakBytes;
    this.#peakBytes = this.#residentBytes;
    return peak;
  }

  /** Sends a message; what cannot be sent is lost with the process, whose exit is reported. */
  send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  /** Kills the process and what it started; `onExit` then gives this reason. */
  kill(reason: string): void {
    this.#killReason ??= reason;
    this.#killGroup();
  }

  #killGroup(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // Nobody is left in the group.
    }
  }

  #listen(listener: WorkerListener): void {
    const child = this.#child;
    child.on('message', (message) => {
      // From the moment it is ready it beats, or something is wrong.
      this.#beatAt ??= performance.now();
      listener.onMessage(message as FromWorker);
    });
    readLines(child.stdout, (line) => listener.onOutput(line));
    readLines(child.stderr, (line) => {
      this.#lastErrors.push(line);
      if (this.#lastErrors.length > keptLines) this.#lastErrors.shift();
      listener.onOutput(line);
    });
    readLines(child.stdio[beatDescriptor] as Readable, (line) => {
      this.#beatAt = performance.now();
      this.#residentBytes = Number(line);
      this.#peakBytes = Math.max(this.#peakBytes, this.#residentBytes);
    });
    let hasEnded = false;
    const end = (reason: string, clean: boolean) => {
      if (hasEnded) return;
      hasEnded = true;
      listener.onExit(reason, clean);
    };
    child.once('error', (error) => end(`worker could not be started: ${error.message}`, false));
    child.once('exit', (code, signal) => {
      // Its own children, should it have left any.
      this.#killGroup();
      const report = () => end(this.#describeExit(code, signal), code === 0 && signal === null);
      // What it said last is read first; a stranger that holds its pipes open is not waited for.
      child.once('close', report);
      setTimeout(report, closeMs).unref();
    });
  }

  #describeExit(code: number | null, signal: NodeJS.Signals | null): string {
    if (this.#killReason !== null) return this.#killReason;
    const what = signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
    const said = this.#lastErrors.length === 0 ? '' : `, its last words: ${this.#lastErrors.join(' | ')}`;
    return `worker ${this.#child.pid} ${what}${said}`;
  }
}

function readLines(stream: Readable | null, onLine: (line: string) => void): void {
  if (!stream) return;
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') onLine(line);
  });
  // A pipe breaks with its process, whose exit is reported.
  stream.on('error', () => undefined);
}
