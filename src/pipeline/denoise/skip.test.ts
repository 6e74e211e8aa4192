import { describe, expect, it } from 'vitest';
import { skipTable } from './skip.js';

const sigmas = Float32Array.of(1, 0.9, 0.7, 0.4, 0.2, 0);

describe('skipTable', () => {
  it('holds the last computed velocity', () => {
    const { skipped, coefficients } = skipTable({ steps: [2, 3], mode: 'hold' }, sigmas, 5);
    expect(skipped).toEqual([false, false, true, true, false]);
    expect([...coefficients.subarray(4, 8)]).toEqual([1, 0, 1, 0]);
  });

  it('extrapolates over sigma through the last two computed velocities', () => {
    const { coefficients } = skipTable({ steps: [2, 3], mode: 'extrapolate' }, sigmas, 5);
    // A velocity that is linear in sigma, v = 2 sigma + 1, is met exactly at every skipped step.
    const v = (sigma: number) => 2 * sigma + 1;
    for (const step of [2, 3])
      expect((coefficients[2 * step] as number) * v(0.9) + (coefficients[2 * step + 1] as number) * v(1)).toBeCloseTo(
        v(sigmas[step] as number),
        5,
      );
  });

  it('holds where only one step is computed yet', () => {
    expect([...skipTable({ steps: [1], mode: 'extrapolate' }, sigmas, 5).coefficients.subarray(2, 4)]).toEqual([1, 0]);
  });

  it('refuses to skip the first step', () => {
    expect(() => skipTable({ steps: [0], mode: 'hold' }, sigmas, 5)).toThrow('step 0 cannot be skipped');
  });
});
