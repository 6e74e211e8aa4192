// One at a time: work on a device waits its turn, in order.

/** Hands out turns. */
export class TurnQueue {
  #last: Promise<void> = Promise.resolve();

  /**
   * Waits for the turns taken before; dispose of the result to pass on.
   * @throws the signal's reason when it aborts while waiting
   */
  async take(signal?: AbortSignal): Promise<Disposable> {
    const before = this.#last;
    let release = () => {};
    this.#last = new Promise((resolve) => {
      release = resolve;
    });
    try {
      await (signal === undefined ? before : raceAbort(before, signal));
    } catch (error) {
      // Those behind still wait for those in front.
      void before.then(release);
      throw error;
    }
    return { [Symbol.dispose]: () => release() };
  }

  /** Resolves when nobody has a turn or waits for one. */
  idle(): Promise<void> {
    return this.#last;
  }
}

async function raceAbort(wait: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([wait, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
