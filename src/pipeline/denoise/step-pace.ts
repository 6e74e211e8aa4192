// How far the host may run ahead of the device: short steps are handed over while the one before still runs, so that the device
// never waits; long ones are waited for, so that a caller who stops is heard soon.
import type { Backend } from '../../backend/index.js';

/** Steps shorter than this are run ahead of, milliseconds. */
const shortStepMs = 400;
/** Steps that are waited for before their length is believed: the first ones also prepare. */
const measuredSteps = 2;

/** Waits behind each step that was handed over. */
export class StepPace {
  readonly #b: Backend;
  #before: Promise<void> | null = null;
  #steps = 0;
  #stepMs = Number.POSITIVE_INFINITY;
  #since = performance.now();

  constructor(b: Backend) {
    this.#b = b;
  }

  /** A step was handed over: resolves when the next one may be. @throws what the device's work failed with */
  async next(): Promise<void> {
    const done = this.#b.synchronize();
    // Whoever leaves the loop does not wait for it.
    done.catch(() => undefined);
    const isAhead = this.#steps >= measuredSteps && this.#stepMs < shortStepMs;
    await (isAhead ? this.#before : done);
    this.#before = done;
    this.#steps++;
    const now = performance.now();
    this.#stepMs = now - this.#since;
    this.#since = now;
  }

  /** Resolves when all steps are done. */
  async finish(): Promise<void> {
    await this.#before;
  }
}
