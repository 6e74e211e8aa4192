// Frames on their way from the run to the encoder, in order; whoever adds some waits until they are taken.

/** Hands frames from one who adds them to one who reads them, once. */
export class FrameQueue {
  readonly #frames: Uint8Array[] = [];
  #waiting = 0;
  #isEnded = false;
  #failure: Error | null = null;
  #moved = () => {};
  #change: Promise<void> = Promise.resolve();

  constructor() {
    this.#arm();
  }

  /**
   * Adds `count` frames, RGB bytes `[count, height, width, 3]`. Resolves when the reader has done with them; until then they
   * must stay as they are.
   * @returns false when the reader is gone
   */
  async add(data: Uint8Array, count: number): Promise<boolean> {
    const size = data.length / count;
    for (let i = 0; i < count; i++) this.#frames.push(data.subarray(i * size, (i + 1) * size));
    this.#waiting += count;
    this.#tell();
    while (this.#waiting > 0 && !this.#isEnded) await this.#change;
    return !this.#isEnded;
  }

  /** No further frames will come. */
  end(): void {
    this.#isEnded = true;
    this.#tell();
  }

  /** The reader is to stop with an error instead of the next frame. */
  fail(reason: Error): void {
    this.#failure ??= reason;
    this.end();
  }

  /** The frames as they come, each `[height, width, 3]`. */
  async *read(): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        if (this.#failure !== null) throw this.#failure;
        const next = this.#frames.shift();
        if (next !== undefined) {
          yield next;
          this.#waiting--;
          this.#tell();
        } else if (this.#isEnded) return;
        else await this.#change;
      }
    } finally {
      // Nobody waits for a reader that has left.
      this.end();
    }
  }

  #tell(): void {
    const moved = this.#moved;
    this.#arm();
    moved();
  }

  #arm(): void {
    this.#change = new Promise((resolve) => {
      this.#moved = resolve;
    });
  }
}
