// Copies host memory by several threads: one alone reads a mapped file slower than the device takes it.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { CopyBoard } from './copy-board.js';

/** Beyond these, the memory is the limit. */
const mostHelpers = 5;
/** How long the first copy waits for its helpers, milliseconds. */
const longestStart = 5000;

export class HostCopier implements Disposable {
  readonly #helperCount: number;
  #board: CopyBoard | null = null;

  /** @param helpers threads beside the calling one; what the machine has, to a limit, where absent. */
  constructor(helpers = Math.min(mostHelpers, availableParallelism() - 1)) {
    this.#helperCount = helpers;
  }

  /** Copies bytes between addresses that do not overlap. Helpers start with the first copy and join when they are there. */
  copy(to: number, from: number, bytes: number): void {
    const board = this.#board ?? new CopyBoard(new SharedArrayBuffer(CopyBoard.bytes));
    const started = this.#board ? 0 : this.#start(board);
    this.#board = board;
    board.copy(to, from, bytes);
    // A thread that was ended while it loads the FFI package would end the process.
    if (started > 0) board.await(started, longestStart);
  }

  [Symbol.dispose](): void {
    this.#board?.stop();
    this.#board = null;
  }

  /** Starts the helpers; how many. */
  #start({ shared }: CopyBoard): number {
    const entry = builtEntry();
    if (entry === null) return 0;
    for (let i = 0; i < this.#helperCount; i++) {
      const helper = new Worker(entry, { workerData: { shared }, execArgv: [] });
      // A helper that cannot start is not missed: the others take its slices.
      helper.on('error', () => {});
      helper.unref();
    }
    return this.#helperCount;
  }
}

/** The helper's JavaScript: beside this file, or the built one's where this is the source. */
function builtEntry(): URL | null {
  const beside = new URL('./copy-worker.js', import.meta.url);
  const built = new URL('copy-worker.js', new URL('../../../../dist/cuda/runtime/memory/', import.meta.url));
  return [beside, built].find((url) => existsSync(url)) ?? null;
}
