// How far a device may be from the oracle: the largest normalised mean square error per op and activation dtype.
import type { OpName } from './cases/op-case.js';

export interface Limit {
  readonly f32: number;
  readonly bf16: number;
}

/**
 * Zero: the same bytes. One bfloat16 rounding costs 2.2e-6 on average (spacing 2^-7 on [1, 2): (2^-7)^2 / 12 times the
 * mean of 1 / x^2); a product rounds its weights and its result, so its limits stand for four or five of them.
 */
export const limits: Readonly<Record<OpName, Limit>> = {
  layout: { f32: 0, bf16: 0 },
  cast: { f32: 0, bf16: 0 },
  embed: { f32: 0, bf16: 6e-6 },
  matmul: { f32: 1e-12, bf16: 1e-5 },
  attention: { f32: 1e-12, bf16: 3e-5 },
  conv: { f32: 1e-12, bf16: 1e-5 },
  convTranspose: { f32: 1e-12, bf16: 1e-5 },
  norm: { f32: 1e-12, bf16: 2e-5 },
  // Numbers that lie near the middle of two E4M3 codes fall to either side: about one in a hundred after a bfloat16 rounding.
  quantize: { f32: 1e-6, bf16: 5e-4 },
  pointwise: { f32: 1e-12, bf16: 1e-5 },
  linearCombination: { f32: 1e-13, bf16: 1e-13 },
  rope: { f32: 1e-12, bf16: 1e-5 },
  toRgb8: { f32: 0, bf16: 0 },
};

/** `|got - wanted|^2 / |wanted|^2`; infinite where one has a number and the other has none. */
export function nmse(got: Float64Array, wanted: Float64Array): number {
  if (got.length !== wanted.length) return Number.POSITIVE_INFINITY;
  let error = 0;
  let power = 0;
  for (let i = 0; i < wanted.length; i++) {
    const [a, b] = [got[i] as number, wanted[i] as number];
    if (Object.is(a, b) || a === b) {
      if (Number.isFinite(b)) power += b * b;
      continue;
    }
    if (!Number.isFinite(a) || !Number.isFinite(b)) return Number.POSITIVE_INFINITY;
    error += (a - b) ** 2;
    power += b * b;
  }
  return error === 0 ? 0 : error / Math.max(power, Number.MIN_VALUE);
}
