// Skipped denoise steps: the velocity is not computed but held from the last computed step, or extrapolated over sigma
// through the last two. Source: performance spec, A.6 and E.12.
import type { Plan } from '../plan-types.js';
import type { SkipMode } from '../request.js';

export interface SkipTable {
  /** Whether each step is skipped. */
  readonly skipped: readonly boolean[];
  /** `[steps, 2]`: weights of the last and the last but one computed velocity, for skipped steps. */
  readonly coefficients: Float32Array;
}

/** Works out, for each skipped step, how the velocities of the computed steps before it stand in for its own. */
export function skipTable(skip: Plan['skip'], sigmas: Float32Array, steps: number): SkipTable {
  const listed = new Set(skip.steps);
  const skipped = Array.from({ length: steps }, (_, step) => listed.has(step));
  const coefficients = new Float32Array(2 * steps);
  const computed: number[] = [];
  for (let step = 0; step < steps; step++) {
    if (!skipped[step]) {
      computed.push(sigmas[step] as number);
      continue;
    }
    if (computed.length === 0) throw new RangeError(`step ${step} cannot be skipped: no step before it is computed`);
    coefficients.set(standInWeights(skip.mode, sigmas[step] as number, computed), 2 * step);
  }
  return { skipped, coefficients };
}

/**
 * Weights of the last and the last but one computed velocity that stand in for the one at `sigma`.
 * @param computed sigmas of the computed steps so far, at least one
 */
export function standInWeights(
  mode: SkipMode,
  sigma: number,
  computed: readonly number[],
): readonly [last: number, before: number] {
  const [before, last] = [computed.at(-2), computed.at(-1) as number];
  const reach = mode === 'extrapolate' && before !== undefined ? (sigma - last) / (last - before) : 0;
  return [1 + reach, reach === 0 ? 0 : -reach];
}
