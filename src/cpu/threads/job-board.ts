// The job board: a few words of shared memory through which threads take tiles of one job at a time.

// Words of the board. `state` holds generation, whether the job is open, and how many helpers have entered it.
const state = 0;
const next = 1;
const tiles = 2;
const kind = 3;
const left = 4;
const failed = 5;
const stopped = 6;

const openBit = 1 << 10;
const enteredMask = openBit - 1;
const generationStep = openBit << 1;

const boardAddress = 4096;
const argsAddress = 8192;
const errorAddress = 16384;
const errorBytes = 4096;
const argsCount = 512;

// Long enough that tiles which take their time are no alarm: a tile is some milliseconds of work.
const defaultPatienceMs = 60_000;
const spins = 2000;

/** One thread's view of the board. */
export class JobBoard {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #error: Uint8Array<SharedArrayBuffer>;
  /** Arguments of the job on the board. */
  readonly args: Float64Array<SharedArrayBuffer>;
  readonly argsAddress = argsAddress;

  readonly #patienceMs: number;

  /** @param patienceMs how long `close` waits for a helper that gives no sign. */
  constructor(buffer: SharedArrayBuffer, patienceMs = defaultPatienceMs) {
    this.#patienceMs = patienceMs;
    this.#words = new Int32Array(buffer, boardAddress, 16);
    this.args = new Float64Array(buffer, argsAddress, argsCount);
    this.#error = new Uint8Array(buffer, errorAddress, errorBytes);
  }

  /** Puts a job up and wakes helpers. The arguments must be in place. */
  open(job: number, count: number): void {
    const w = this.#words;
    Atomics.store(w, kind, job);
    Atomics.store(w, tiles, count);
    Atomics.store(w, next, 0);
    Atomics.store(w, left, 0);
    Atomics.store(w, state, ((Atomics.load(w, state) & ~(openBit | enteredMask)) + generationStep) | openBit);
    Atomics.notify(w, state);
  }

  /** The next tile of the open job, or -1. */
  take(): number {
    const tile = Atomics.add(this.#words, next, 1);
    return tile < (this.#words[tiles] as number) ? tile : -1;
  }

  /**
   * Lets no more helpers in and waits for those inside.
   * @throws Error when a helper failed on a tile, or has not come back for a minute.
   */
  close(): void {
    const w = this.#words;
    const before = Atomics.and(w, state, ~openBit);
    const entered = before & enteredMask;
    for (let i = 0; i < spins && Atomics.load(w, left) !== entered; i++);
    for (let done = Atomics.load(w, left); done !== entered; done = Atomics.load(w, left)) {
      if (Atomics.wait(w, left, done, this.#patienceMs) === 'timed-out')
        throw new Error(`a compute thread has not answered for ${this.#patienceMs / 1000} s: it has crashed or hangs`);
    }
    if (Atomics.exchange(w, failed, 0) !== 0) throw new Error(`a compute thread failed: ${this.#readError()}`);
  }

  /** Waits for an open job that this helper has not been in; its kind, or -1 when the device is being closed. */
  enter(seen: { generation: number }): number {
    const w = this.#words;
    for (let idle = 0; ; idle++) {
      if (Atomics.load(w, stopped) !== 0) return -1;
      const now = Atomics.load(w, state);
      const generation = now & ~(openBit | enteredMask);
      if ((now & openBit) !== 0 && generation !== seen.generation) {
        if (Atomics.compareExchange(w, state, now, now + 1) !== now) continue;
        seen.generation = generation;
        return Atomics.load(w, kind);
      }
      if (idle > spins) {
        Atomics.wait(w, state, now);
        idle = 0;
      }
    }
  }

  /** A helper is done with the job it entered. */
  leave(): void {
    Atomics.add(this.#words, left, 1);
    Atomics.notify(this.#words, left);
  }

  /** A helper could not do a tile; `close` throws this. */
  fail(message: string): void {
    if (Atomics.compareExchange(this.#words, failed, 0, 1) !== 0) return;
    const bytes = new TextEncoder().encode(message).subarray(0, errorBytes - 4);
    this.#error.fill(0);
    this.#error.set(bytes);
  }

  /** Sends helpers home. */
  stop(): void {
    Atomics.store(this.#words, stopped, 1);
    Atomics.add(this.#words, state, generationStep);
    Atomics.notify(this.#words, state);
  }

  #readError(): string {
    const end = this.#error.indexOf(0);
    return new TextDecoder().decode(this.#error.slice(0, end < 0 ? errorBytes : end));
  }
}
