import { describe, expect, it } from 'vitest';
import { branchWeights, neededBranches } from './guidance.js';

const base = { scale: 1, interval: null, controlScale: 1, controlInterval: null };

describe('branchWeights', () => {
  it('runs the conditional branch alone without guidance', () => {
    expect(branchWeights(base, 500, false)).toEqual({ cond: 1, 'no-control': 0, uncond: 0 });
  });

  it('is u + g (c - u) with text guidance', () => {
    expect(branchWeights({ ...base, scale: 6 }, 500, false)).toEqual({ cond: 6, 'no-control': 0, uncond: -5 });
  });

  it('is n + c (f - n) with control guidance', () => {
    expect(branchWeights({ ...base, controlScale: 1.5 }, 500, true)).toEqual({
      cond: 1.5,
      'no-control': -0.5,
      uncond: 0,
    });
  });

  it('combines both as u + g (n + c (f - n) - u)', () => {
    const weights = branchWeights({ ...base, scale: 3, controlScale: 2 }, 500, true);
    const [f, n, u] = [0.7, -0.2, 0.4];
    const controlled = n + 2 * (f - n);
    const wanted = u + 3 * (controlled - u);
    expect(weights.cond * f + weights['no-control'] * n + weights.uncond * u).toBeCloseTo(wanted, 12);
  });

  it('closes its intervals at both ends', () => {
    const guidance = { ...base, scale: 7, interval: [400, 1000] as const };
    for (const [timestep, on] of [
      [1000, true],
      [400, true],
      [399, false],
    ] as const)
      expect(branchWeights(guidance, timestep, false).uncond !== 0).toBe(on);
  });

  it('switches text and control guidance on their own intervals', () => {
    const guidance = { scale: 3, interval: [800, 1000] as const, controlScale: 2, controlInterval: [0, 500] as const };
    expect(branchWeights(guidance, 900, true)).toEqual({ cond: 3, 'no-control': 0, uncond: -2 });
    expect(branchWeights(guidance, 300, true)).toEqual({ cond: 2, 'no-control': -1, uncond: 0 });
    expect(branchWeights(guidance, 600, true)).toEqual({ cond: 1, 'no-control': 0, uncond: 0 });
  });

  it('ignores the control scale where there are no controls', () => {
    expect(branchWeights({ ...base, controlScale: 2 }, 500, false).cond).toBe(1);
  });
});

describe('neededBranches', () => {
  it('names only branches that some step uses, in the order they run', () => {
    const timesteps = Float32Array.of(999, 700, 300);
    expect(neededBranches({ ...base, scale: 6 }, timesteps, false)).toEqual(['cond', 'uncond']);
    expect(neededBranches({ ...base, scale: 6, controlScale: 2 }, timesteps, true)).toEqual([
      'cond',
      'no-control',
      'uncond',
    ]);
    expect(neededBranches({ ...base, scale: 6, interval: [0, 100] }, timesteps, false)).toEqual(['cond']);
  });
});
