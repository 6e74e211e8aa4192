// Flow-matching Euler with re-noising: the sampler of distilled checkpoints.
import { type SolverTable, type StepCombinations, toSolverTable } from './solver-table.js';

/**
 * Table of the stochastic Euler sampler: data = x - sigma v, next = (1 - sigma_next) data + sigma_next noise.
 * @param sigmas [N+1] as `fixedSigmas` gives them, the last 0
 * @throws RangeError when fewer than two sigmas are given.
 */
export function flowEulerTable(sigmas: Float32Array): SolverTable {
  if (sigmas.length < 2)
    throw new RangeError(`${sigmas.length} sigmas make no step; give one per step and a final 0 (see fixedSigmas)`);
  const steps = Array.from({ length: sigmas.length - 1 }, (_, i): StepCombinations => {
    const sigma = sigmas[i] as number;
    const following = sigmas[i + 1] as number;
    const keep = 1 - following;
    return {
      next: { sample: keep, velocity: -keep * sigma, noise: following },
      corrected: { sample: 1 },
      data: { sample: 1, velocity: -sigma },
    };
  });
  return toSolverTable(steps, true);
}
