// The pool: this thread and its helpers, working through one job after the other.
import { Worker } from 'node:worker_threads';
import { builtFile } from '../kernel-module.js';
import { beginJob, type JobName, type JobOf, jobNames, jobs } from '../tiles/index.js';
import { writeJob } from '../tiles/job.js';
import { startThread, type Thread, type ThreadSetup } from './thread.js';

export class Pool {
  readonly thread: Thread;
  readonly #workers: Worker[] = [];
  #broken: Error | null = null;

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
    if (this.#broken) throw this.#broken;
    const { board, args } = this.thread;
    writeJob(jobs[name].fields, args, job, extra);
    const number = jobNames.indexOf(name);
    const runTile = beginJob(number, this.thread);
    if (tiles <= 1 || this.#workers.length === 0) {
      for (let tile = 0; tile < tiles; tile++) runTile(tile);
      return;
    }
    board.open(number, tiles);
    try {
      for (let tile = board.take(); tile >= 0; tile = board.take()) runTile(tile);
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
    const worker = new Worker(builtFile('threads/worker.js'), { workerData: setup, execArgv: [] });
    worker.on('error', (error) => {
      this.#broken ??= new Error(`a compute thread crashed: ${error.message}`, { cause: error });
    });
    worker.on('exit', (code) => {
      this.#broken ??= new Error(`a compute thread ended with code ${code}`);
    });
    return worker;
  }
}
