import { describe, expect, it } from 'vitest';
import { flowSigmas } from '../../schedulers/index.js';
import { judgeShift } from './shift-check.js';

const shift10 = [999, 988, 975, 958, 937, 908, 869, 810, 714, 526];
const recognised = { kind: 'recognised', timesteps: shift10 } as const;
const unknown = { kind: 'unknown' } as const;

describe('judgeShift', () => {
  it.each([
    [10, null, recognised],
    [10, 10, recognised],
    [10, 10, unknown],
    [10, null, { kind: 'recognised', timesteps: shift10.map((t, i) => t + ((i % 3) - 1)) }],
  ] as const)('is content with %d, stated %s', (shift, stated, found) => {
    expect(judgeShift(shift, { stated, found })).toBeNull();
  });

  it('knows the shift of embeddings', () => {
    expect(judgeShift(5, { stated: null, found: recognised })).toMatch(
      /^shift 5 is not the dump's: its embeddings are those of timesteps 999, 988, .*, shift 5 has 999, 978, .*give --shift 10$/,
    );
  });

  it('knows the grid of a reference that begins at 1', () => {
    const timesteps = [...flowSigmas({ steps: 35, shift: 10, grid: 'linspace' }).timesteps];
    const found = { kind: 'recognised', timesteps } as const;
    expect(judgeShift(10, { stated: null, found })).toMatch(
      /^the dump walks another grid, .*, 233, the native grid has 999, .*, 227; /,
    );
  });

  it('believes what a dump states', () => {
    expect(judgeShift(10, { stated: 5, found: unknown })).toMatch(/was made with 5:.*give --shift 5$/);
  });

  it('says when nothing can be checked, or the dump is another checkpoint’s', () => {
    expect(judgeShift(10, { stated: null, found: unknown })).toMatch(/^shift 10 is unchecked: /);
    expect(judgeShift(10, { stated: 10, found: { kind: 'foreign', step: 0, distance: 0.7 } })).toMatch(
      /embedding of step 0 is none that this checkpoint makes \(70 % away/,
    );
  });
});
