import { describe, expect, it } from 'vitest';
import type { BranchWeights } from '../guidance.js';
import { GuidanceReuse } from './guidance-reuse.js';

const guided: BranchWeights = { cond: 3, 'no-control': 0, uncond: -2 };
const plain: BranchWeights = { cond: 1, 'no-control': 0, uncond: 0 };

describe('GuidanceReuse', () => {
  it('computes guidance at every so many steps', () => {
    const reuse = new GuidanceReuse(3);
    const works = [0, 1, 2, 3, 4, 5, 6].map((step) => reuse.decide(step, guided));
    expect(works).toEqual(['keep', 'reuse', 'reuse', 'keep', 'reuse', 'reuse', 'keep']);
  });

  it('counts steps that were skipped', () => {
    const reuse = new GuidanceReuse(2);
    expect([0, 1, 4].map((step) => reuse.decide(step, guided))).toEqual(['keep', 'reuse', 'keep']);
  });

  it('computes it where the weights are new', () => {
    const reuse = new GuidanceReuse(4);
    const more = { ...guided, cond: 6, 'no-control': -3 };
    expect(reuse.decide(0, guided)).toBe('keep');
    expect(reuse.decide(1, more)).toBe('keep');
    expect(reuse.decide(2, more)).toBe('reuse');
  });

  it('keeps nothing where there is no guidance, or where every step computes it', () => {
    const reuse = new GuidanceReuse(2);
    expect([0, 1].map((step) => reuse.decide(step, plain))).toEqual(['combine', 'combine']);
    const always = new GuidanceReuse(1);
    expect([0, 1].map((step) => always.decide(step, guided))).toEqual(['combine', 'combine']);
  });
});
