// Guidance that is not computed at every step: what it added to the conditional velocity is kept and added again.
import type { BranchWeights } from '../guidance.js';

/**
 * How a step combines its branches. `combine`: weighs the branches that run. `keep`: does so and keeps what guidance added.
 * `reuse`: runs the conditional branch alone and adds what was kept.
 */
export type GuidanceWork = 'combine' | 'keep' | 'reuse';

/** Decides, step by step, which of them computes its guidance: every `every`-th, and each whose weights are new. */
export class GuidanceReuse {
  readonly #every: number;
  #keptAt = 0;
  #kept: BranchWeights | null = null;

  /** @param every 1 computes it at every step */
  constructor(every: number) {
    this.#every = every;
  }

  /** What a computed step is to do, given its weights; steps come in order. */
  decide(step: number, weights: BranchWeights): GuidanceWork {
    const isGuided = weights['no-control'] !== 0 || weights.uncond !== 0;
    if (this.#every <= 1 || !isGuided) return 'combine';
    if (this.#kept !== null && step - this.#keptAt < this.#every && areEqual(this.#kept, weights)) return 'reuse';
    this.#kept = weights;
    this.#keptAt = step;
    return 'keep';
  }
}

function areEqual(a: BranchWeights, b: BranchWeights): boolean {
  return a.cond === b.cond && a['no-control'] === b['no-control'] && a.uncond === b.uncond;
}
