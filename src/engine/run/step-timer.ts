// Time per step and time left.

/** What is known after a step. */
export interface StepTiming {
  readonly secondsPerStep: number;
  readonly secondsLeft: number;
}

/** Times the steps of a run of one or more chunks; `now` in milliseconds. */
export class StepTimer {
  #spent = 0;
  #done = 0;
  #since: number;

  constructor(private readonly now: () => number = () => performance.now()) {
    this.#since = now();
  }

  /** The denoise loop of a chunk begins. */
  start(): void {
    this.#since = this.now();
  }

  /** A step has ended; skipped ones count like the others, since which are skipped is spread over the run. */
  step(at: {
    readonly step: number;
    readonly steps: number;
    readonly chunk: number;
    readonly chunks: number;
  }): StepTiming {
    const now = this.now();
    this.#spent += now - this.#since;
    this.#since = now;
    this.#done++;
    const secondsPerStep = this.#spent / this.#done / 1000;
    const left = at.steps - at.step + (at.chunks - at.chunk - 1) * at.steps;
    return { secondsPerStep, secondsLeft: left * secondsPerStep };
  }
}
