// What a step cache would put in the place of each velocity it skips, given the velocities of every step.
import { makeSchedule } from '../../../pipeline/denoise/schedule.js';
import { skipTable } from '../../../pipeline/denoise/skip.js';
import type { Plan } from '../../../pipeline/plan-types.js';

/**
 * The stand-ins of a plan's skipped steps; null for steps that are computed.
 * @param velocities of all steps, each of the reference's own input
 */
export function standInVelocities(
  plan: Pick<Plan, 'schedule' | 'steps' | 'skip'>,
  velocities: readonly (Float32Array | null)[],
): (Float32Array | null)[] {
  const { skipped, coefficients } = skipTable(plan.skip, makeSchedule(plan).sigmas, plan.steps);
  const computed: Float32Array[] = [];
  return velocities.map((velocity, step) => {
    if (!skipped[step]) {
      if (velocity) computed.push(velocity);
      return null;
    }
    const [last, before] = [computed.at(-1), computed.at(-2)];
    if (last === undefined) throw new RangeError(`step ${step} has no velocity before it`);
    const ofLast = coefficients[2 * step] as number;
    const ofBefore = coefficients[2 * step + 1] as number;
    return last.map((value, i) => ofLast * value + ofBefore * (before?.[i] ?? 0));
  });
}
