// The board that threads copying host memory share: the copy under way in slices, each taken by one thread.
import { openProcess } from '../../../native/index.js';

/** Bytes of a slice. */
const sliceBytes = 2 << 20;

// Slices are numbered through all copies, so that a number taken late cannot be mistaken for one of another copy.
const [next, end, done, present, stopped, bell] = [0, 1, 2, 3, 4, 5];

type CopyBytes = (to: number, from: number, bytes: number) => unknown;

export class CopyBoard {
  readonly #counters: Int32Array<SharedArrayBuffer>;
  /** Where the copy goes to and comes from, its bytes, and the number of its first slice. */
  readonly #job: Float64Array<SharedArrayBuffer>;
  readonly #copy: CopyBytes;

  /** @param shared `CopyBoard.bytes` of zeros, the same for all threads. */
  constructor(readonly shared: SharedArrayBuffer) {
    this.#counters = new Int32Array(shared, 0, 6);
    this.#job = new Float64Array(shared, 24, 4);
    this.#copy = openProcess().declare('memcpy', 'uintptr_t', ['uintptr_t', 'uintptr_t', 'size_t']);
  }

  static readonly bytes = 56;

  /** Copies with whoever else is at the board; returns when all is copied. One thread alone may call it. */
  copy(to: number, from: number, bytes: number): void {
    const first = Atomics.load(this.#counters, end);
    const last = first + Math.ceil(bytes / sliceBytes);
    this.#job.set([to, from, bytes, first]);
    Atomics.store(this.#counters, end, last);
    this.#ring();
    this.#work();
    for (let count = Atomics.load(this.#counters, done); count !== last; count = Atomics.load(this.#counters, done))
      Atomics.wait(this.#counters, done, count);
  }

  /** Works for the thread that calls `copy`, until it calls `stop`. */
  serve(): void {
    Atomics.add(this.#counters, present, 1);
    Atomics.notify(this.#counters, present);
    for (;;) {
      const seen = Atomics.load(this.#counters, bell);
      if (Atomics.load(this.#counters, stopped) === 1) return;
      this.#work();
      Atomics.wait(this.#counters, bell, seen);
    }
  }

  /** Blocks until so many threads serve, or the time is over. */
  await(threads: number, milliseconds: number): void {
    const start = performance.now();
    for (;;) {
      const count = Atomics.load(this.#counters, present);
      const left = milliseconds - (performance.now() - start);
      if (count >= threads || left <= 0) return;
      Atomics.wait(this.#counters, present, count, left);
    }
  }

  /** Sends the serving threads home. */
  stop(): void {
    Atomics.store(this.#counters, stopped, 1);
    this.#ring();
  }

  #ring(): void {
    Atomics.add(this.#counters, bell, 1);
    Atomics.notify(this.#counters, bell);
  }

  #work(): void {
    for (;;) {
      const slice = Atomics.load(this.#counters, next);
      if (slice >= Atomics.load(this.#counters, end)) return;
      if (Atomics.compareExchange(this.#counters, next, slice, slice + 1) !== slice) continue;
      const [to = 0, from = 0, bytes = 0, first = 0] = this.#job;
      const at = (slice - first) * sliceBytes;
      this.#copy(to + at, from + at, Math.min(sliceBytes, bytes - at));
      Atomics.add(this.#counters, done, 1);
      Atomics.notify(this.#counters, done);
    }
  }
}
