import { describe, expect, it } from 'vitest';
import { makeSchedule } from '../../../pipeline/denoise/schedule.js';
import { standInVelocities } from './stand-in.js';

const schedule = { solver: 'unipc', grid: 'native', flowShift: 10, order: 2, variant: 'bh2', karras: null } as const;
const sampling = { schedule, steps: 6 };
const { sigmas } = makeSchedule(sampling);
/** Velocities that are linear in sigma. */
const velocities = Array.from({ length: 6 }, (_, step) => Float32Array.of(2 * (sigmas[step] as number) + 1, 3));

describe('standInVelocities', () => {
  it('holds the last computed velocity over several skipped steps', () => {
    const standIns = standInVelocities({ ...sampling, skip: { steps: [2, 3, 5], mode: 'hold' } }, velocities);
    expect(standIns).toEqual([null, null, velocities[1], velocities[1], null, velocities[4]]);
  });

  it('meets a velocity that is linear in sigma by extrapolation', () => {
    const standIns = standInVelocities({ ...sampling, skip: { steps: [2, 3], mode: 'extrapolate' } }, velocities);
    for (const step of [2, 3]) {
      expect(standIns[step]?.[0]).toBeCloseTo(velocities[step]?.[0] as number, 5);
      expect(standIns[step]?.[1]).toBeCloseTo(3, 5);
    }
    expect(standIns[4]).toBeNull();
  });
});
