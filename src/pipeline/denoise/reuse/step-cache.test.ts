import { describe, expect, it } from 'vitest';
import type { PlannedStepCache } from '../../plan-types.js';
import { StepCache } from './step-cache.js';

const base: PlannedStepCache = {
  kind: 'teacache',
  threshold: 0.3,
  warmupSteps: 2,
  maxConsecutive: 2,
  coefficients: [],
  power: 3,
};

function computed(plan: PlannedStepCache, changes: readonly number[]): boolean[] {
  const cache = new StepCache(plan, changes.length);
  return changes.map((change, step) => cache.isComputed(step, change));
}

describe('StepCache', () => {
  it('skips until the changes since the last computed step reach the threshold', () => {
    expect(computed(base, [9, 0.01, 0.2, 0.09, 0.02, 0.1, 0.1])).toEqual([true, true, false, false, true, false, true]);
  });

  it('never skips the warm-up, however little changes, nor the last step', () => {
    expect(computed({ ...base, warmupSteps: 4 }, [0, 0, 0, 0, 0, 0, 0])).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      true,
    ]);
  });

  it('always computes the first step', () => {
    expect(computed({ ...base, warmupSteps: 0 }, [0, 0, 0])).toEqual([true, false, true]);
  });

  it('skips no more than so many in a row', () => {
    expect(computed({ ...base, warmupSteps: 1, maxConsecutive: 1 }, [0, 0, 0, 0, 0, 0])).toEqual([
      true,
      false,
      true,
      false,
      true,
      true,
    ]);
  });

  it('rescales changes by its polynomial, highest power first', () => {
    // 2 x^2 + 0.1: 0.3 at 0.3162, which reaches the threshold at once; 0.12 at 0.1, which does not.
    const plan = { ...base, warmupSteps: 1, coefficients: [2, 0, 0.1] };
    expect(computed(plan, [0, 0.32, 0.1, 0])).toEqual([true, true, false, true]);
  });

  it('takes what is no number for a large change', () => {
    const plan = { ...base, warmupSteps: 1 };
    expect(computed(plan, [0, Number.NaN, Number.POSITIVE_INFINITY, 0.1, 0])).toEqual([true, true, true, false, true]);
  });

  it('computes every step at a threshold of zero', () => {
    expect(computed({ ...base, threshold: 0 }, [0, 0, 0, 0, 0])).toEqual([true, true, true, true, true]);
  });
});
