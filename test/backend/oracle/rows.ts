// Norms, pointwise and position ops of the oracle.
import type { Activation, Combination } from '../../../src/backend/index.js';
import { floatsOf } from './oracle-tensor.js';

export function rmsNormLoops(x: Float32Array, weight: Float32Array, eps: number): Float32Array {
  const c = weight.length;
  const out = new Float32Array(x.length);
  for (let row = 0; row < x.length; row += c) {
    let sum = 0;
    for (let i = 0; i < c; i++) sum += (x[row + i] as number) ** 2;
    const factor = 1 / Math.sqrt(sum / c + eps);
    for (let i = 0; i < c; i++) out[row + i] = (x[row + i] as number) * factor * (weight[i] as number);
  }
  return out;
}

export function layerNormLoops(
  x: Float32Array,
  weight: Float32Array,
  bias: Float32Array | null,
  eps: number,
): Float32Array {
  const c = weight.length;
  const out = new Float32Array(x.length);
  for (let row = 0; row < x.length; row += c) {
    let sum = 0;
    for (let i = 0; i < c; i++) sum += x[row + i] as number;
    const mean = sum / c;
    let squares = 0;
    for (let i = 0; i < c; i++) squares += ((x[row + i] as number) - mean) ** 2;
    const factor = 1 / Math.sqrt(squares / c + eps);
    for (let i = 0; i < c; i++)
      out[row + i] = ((x[row + i] as number) - mean) * factor * (weight[i] as number) + (bias?.[i] ?? 0);
  }
  return out;
}

/** Error function by its Maclaurin series up to 3, beyond by the continued fraction of erfc: about 1e-15. */
export function erf(x: number): number {
  const size = Math.abs(x);
  if (size > 6) return Math.sign(x);
  if (size < 3) {
    let term = x;
    let sum = x;
    for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(sum) && n < 100; n++) {
      term *= -(x * x) / n;
      sum += term / (2 * n + 1);
    }
    return (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / 2 / (size + fraction);
  return Math.sign(x) * (1 - Math.exp(-size * size) / (Math.sqrt(Math.PI) * (size + fraction)));
}

export function activate(value: number, kind: Activation): number {
  switch (kind) {
    case 'silu':
      return value / (1 + Math.exp(-value));
    case 'relu2':
      return value > 0 ? value * value : 0;
    case 'gelu':
      return 0.5 * value * (1 + erf(value / Math.SQRT2));
    case 'abs':
      return Math.abs(value);
    default:
      return kind satisfies never;
  }
}

export function swigluLoops(x: Float32Array, width: number): Float32Array {
  const out = new Float32Array(x.length / 2);
  for (let i = 0; i < out.length; i++) {
    const at = Math.floor(i / width) * 2 * width + (i % width);
    out[i] = activate(x[at] as number, 'silu') * (x[at + width] as number);
  }
  return out;
}

export function snakeLoops(x: Float32Array, alpha: Float32Array, beta: Float32Array): Float32Array {
  const c = alpha.length;
  const out = new Float32Array(x.length);
  for (let i = 0; i < x.length; i++) {
    const value = x[i] as number;
    const wave = Math.sin(Math.exp(alpha[i % c] as number) * value);
    out[i] = value + (wave * wave) / (Math.exp(beta[i % c] as number) + 1e-9);
  }
  return out;
}

export function meanLoops(x: Float32Array, c: number): Float32Array {
  const out = new Float32Array(x.length / c);
  for (let row = 0; row < out.length; row++) {
    let sum = 0;
    for (let i = 0; i < c; i++) sum += x[row * c + i] as number;
    out[row] = sum / c;
  }
  return out;
}

/** The weighted sum of the step's row; terms with a zero coefficient are not read. A step outside the table throws. */
export function combine(size: number, { terms, coefficients, step }: Combination): Float64Array {
  const row = floatsOf(step)[0] ?? 0;
  const table = floatsOf(coefficients);
  if (row < 0 || row >= (coefficients.shape[0] ?? 0))
    throw new RangeError(`linearCombination: step ${row} of ${coefficients.shape[0]}`);
  const sums = new Float64Array(size);
  terms.forEach((term, k) => {
    const factor = table[row * terms.length + k] as number;
    if (factor === 0) return;
    const values = floatsOf(term);
    for (let i = 0; i < size; i++) sums[i] = (sums[i] as number) + factor * (values[i] as number);
  });
  return sums;
}

/** Rotate-half: `x cos + [-x2, x1] sin`, per row `[S]` for all heads. */
export function ropeLoops(
  x: Float32Array,
  cos: Float32Array,
  sin: Float32Array,
  heads: number,
  d: number,
): Float32Array {
  const out = new Float32Array(x.length);
  const half = d / 2;
  for (let at = 0; at < x.length; at++) {
    const i = at % d;
    const angle = Math.floor(at / (heads * d)) * d + i;
    const other = i < half ? -(x[at + half] as number) : (x[at - half] as number);
    out[at] = (x[at] as number) * (cos[angle] as number) + other * (sin[angle] as number);
  }
  return out;
}

/** `[-1, 1]` to bytes; float32 steps, since a half is decided there. Uint8ClampedArray rounds halves to even. */
export function rgbLoops(x: Float32Array): Uint8ClampedArray {
  const out = new Uint8ClampedArray(x.length);
  for (let i = 0; i < x.length; i++)
    out[i] = Math.fround(Math.fround(Math.min(1, Math.max(-1, x[i] as number)) + 1) * 127.5);
  return out;
}
