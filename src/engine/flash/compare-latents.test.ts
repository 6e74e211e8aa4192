import { expect, it } from 'vitest';
import { compareLatents } from './compare-latents.js';

it('gives cosine and relative distance', () => {
  const reference = Float32Array.of(3, 4);
  expect(compareLatents(Float32Array.of(3, 4), reference)).toEqual({ cos: 1, relL2: 0 });
  // (4, 3) . (3, 4) = 24 of 25; the difference is (1, -1).
  const { cos, relL2 } = compareLatents(Float32Array.of(4, 3), reference);
  expect(cos).toBeCloseTo(0.96, 12);
  expect(relL2).toBeCloseTo(Math.SQRT2 / 5, 12);
  expect(() => compareLatents(new Float32Array(1), reference)).toThrow('1 values');
});
