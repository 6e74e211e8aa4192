// The pool: this thread and its helpers, working through one job after the other.
import { Worker } from 'node:worker_threads';
import { builtFile } from './kernels.js';
import { startThread, type Thread, type ThreadSetup } from './thread.js';
import { type JobName, type JobOf, jobNames, jobs, runTile } from './tiles/index.js';
import { writeJob } from './tiles/job.js';

export class Pool {
  readonly thread: Thread;
  readonly #workers: Worker[] = [];
  #broken: Error | null = null;
  #number = 0;
  #tiles = 0;
  #shared = false;

  /** @param setups one per thread; the first is the calling thread's. */
  constructor(setups: readonly ThreadSetup[]) {
    const [own, ...others] = setups;
    if (!own) throw new RangeError('a pool of no threads');
    this.thread = startThread(own);
    for (const setup of others) this.#workers.push(this.#startWorker(setup));
  }

  /** Resolves when all helpers have started. Jobs may be run before; the helpers then join later. */
  async ready(): Promise<void> {
    await Promise.all(
      this.#workers.map(
        (worker) =>
          new Promise<void>((resolve, reject) => {
            worker.once('message', () => {
              worker.unref();
              resolve();
            });
            worker.once('error', reject);
          }),
      ),
    );
  }

  /** Runs `tiles` tiles of a job to the end. `extra` numbers lie behind the named ones. */
  run<N extends JobName>(name: N, job: JobOf<N>, tiles: number, extra?: readonly number[]): void {
    this.start(name, job, tiles, extra);
    this.finish();
  }

  /** Lets helpers begin a job; this thread may do something else before it calls `finish`. */
  start<N extends JobName>(name: N, job: JobOf<N>, tiles: number, extra?: readonly number[]): void {
    if (this.#broken) throw this.#broken;
    writeJob(jobs[name].fields, this.thread.args, job, extra);
    this.#number = jobNames.indexOf(name);
    this.#tiles = tiles;
    this.#shared = tiles > 1 && this.#workers.length > 0;
    if (this.#shared) this.thread.board.open(this.#number, tiles);
  }

  /** Takes part in the job begun by `start` and waits for its end. */
  finish(): void {
    if (!this.#shared) {
      for (let tile = 0; tile < this.#tiles; tile++) runTile(this.#number, this.thread, tile);
      return;
    }
    const { board } = this.thread;
    try {
      for (let tile = board.take(); tile >= 0; tile = board.take()) runTile(this.#number, this.thread, tile);
    } finally {
      board.close();
    }
  }

  async close(): Promise<void> {
    this.#broken ??= new Error('the CPU device has been closed');
    this.thread.board.stop();
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #startWorker(setup: ThreadSetup): Worker {
    const worker = new Worker(builtFile('worker.js'), { workerData: setup, execArgv: [] });
    worker.on('error', (error) => {
      this.#broken ??= new Error(`a compute thread crashed: ${error.message}`, { cause: error });
    });
    worker.on('exit', (code) => {
      this.#broken ??= new Error(`a compute thread ended with code ${code}`);
    });
    return worker;
  }
}
