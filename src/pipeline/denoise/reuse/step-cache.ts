// Which steps need not be computed, judged by how much what the network reads has changed. The judgement is host arithmetic; the
// change is measured by `change-meter.ts`. TeaCache (arXiv 2411.19108) measures the input of the first layer, SeaCache
// (arXiv 2602.18993) the latents behind a filter that leaves out what is noise at this step.
import type { PlannedStepCache } from '../../plan-types.js';

/** Judges the steps of one run, in order. */
export class StepCache {
  readonly #plan: PlannedStepCache;
  readonly #steps: number;
  /** Changes since the last computed step, rescaled. */
  #accumulated = 0;
  #skippedInARow = 0;

  constructor(plan: PlannedStepCache, steps: number) {
    this.#plan = plan;
    this.#steps = steps;
  }

  /**
   * Whether a step is computed. The first ones (`warmupSteps`) and the last always are.
   * @param change relative L1 distance of the step's signal from the one before; anything but a finite number counts as large
   */
  isComputed(step: number, change: number): boolean {
    const { threshold, warmupSteps, maxConsecutive, coefficients } = this.#plan;
    this.#accumulated += rescale(coefficients, change);
    const isFixed = step < warmupSteps || step === 0 || step === this.#steps - 1;
    if (!isFixed && this.#accumulated < threshold && this.#skippedInARow < maxConsecutive) {
      this.#skippedInARow++;
      return false;
    }
    this.#accumulated = 0;
    this.#skippedInARow = 0;
    return true;
  }
}

/** The value of a polynomial, highest power first; without coefficients the change itself. */
function rescale(coefficients: readonly number[], change: number): number {
  if (!Number.isFinite(change)) return Number.POSITIVE_INFINITY;
  if (coefficients.length === 0) return change;
  return coefficients.reduce((sum, coefficient) => sum * change + coefficient, 0);
}
