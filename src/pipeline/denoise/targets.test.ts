import { describe, expect, it } from 'vitest';
import { NoiseGenerator } from '../../schedulers/index.js';
import { channelsLast, initialLatents, passDraws, type Target } from './targets.js';

const target = (kind: 'vision' | 'sound', shape: readonly number[]): Target =>
  ({ item: { kind, shape }, cleanFrames: [], mask: null, clean: null }) as object as Target;

describe('pictures of one generator', () => {
  it('begin where the noise of the one before ended', () => {
    const targets = [target('vision', [1, 3, 4, 5]), target('sound', [7, 3])];
    const all = new NoiseGenerator(11);
    const [, , vision = new Float32Array(), sound = new Float32Array()] = [60, 21, 60, 21].map((n) => all.normal(n));
    const generator = new NoiseGenerator(11);
    passDraws(targets, generator, 1);
    expect(initialLatents(targets, generator)).toEqual([channelsLast(vision, 5), channelsLast(sound, 3)]);
  });

  it('the first of them begins at its seed', () => {
    const targets = [target('vision', [1, 2, 2, 16])];
    const generator = new NoiseGenerator(3);
    passDraws(targets, generator, 0);
    expect(initialLatents(targets, generator)).toEqual([channelsLast(new NoiseGenerator(3).normal(64), 16)]);
  });
});
