// Activations. Exponentials of a run of elements are made first, in a buffer that stays in the nearest cache.
import { expRange, loadPart, storePart } from './math';
import { buffer } from './work';

/** Elements of a run. */
const run = 512;

/** `to = x * sigmoid(x) * factor`, `factor` 1 when its address is 0. `to` may be `x` or `factor`. */
export function siluRange(to: usize, x: usize, factor: usize, count: i32): void {
  const one = f32x4.splat(1);
  for (let start = 0; start < count; start += run) {
    const n = min(run, count - start);
    const skip = (<usize>start) << 2;
    const e = buffer();
    expRange(e, x + skip, n, -1, 0);
    for (let i = 0; i < n; i += 4) {
      const at = skip + ((<usize>i) << 2);
      const whole = i + 4 <= n;
      const value = whole ? v128.load(x + at) : loadPart(x + at, n - i, 0);
      let y = f32x4.div(value, f32x4.add(one, v128.load(e + ((<usize>i) << 2))));
      if (factor) y = f32x4.mul(y, whole ? v128.load(factor + at) : loadPart(factor + at, n - i, 0));
      if (whole) v128.store(to + at, y);
      else storePart(to + at, n - i, y);
    }
  }
}

/** The polynomial of Numerical Recipes' erfcc, whose fractional error is below 1.2e-7: `erfc(z) = t e^(p(t) - z^2)`. */
function erfcExponent(z: v128, t: v128): v128 {
  let p = f32x4.splat(0.17087277);
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(-0.82215223));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(1.48851587));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(-1.13520398));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(0.27886807));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(-0.18628806));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(0.09678418));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(0.37409196));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(1.00002368));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(-1.26551223));
  return f32x4.sub(p, f32x4.mul(z, z));
}

/** `1 / (1 + z / 2)` of `z = |x| / sqrt 2`. */
function erfcArgument(z: v128): v128 {
  return f32x4.div(f32x4.splat(1), f32x4.add(f32x4.splat(1), f32x4.mul(z, f32x4.splat(0.5))));
}

/** `to = x` times the normal distribution function of x. */
function geluRange(to: usize, x: usize, count: i32): void {
  const root = f32x4.splat(Mathf.SQRT1_2);
  for (let start = 0; start < count; start += run) {
    const n = min(run, count - start);
    const skip = (<usize>start) << 2;
    const e = buffer();
    for (let i = 0; i < n; i += 4) {
      const at = skip + ((<usize>i) << 2);
      const value = i + 4 <= n ? v128.load(x + at) : loadPart(x + at, n - i, 0);
      const z = f32x4.mul(f32x4.abs(value), root);
      v128.store(e + ((<usize>i) << 2), erfcExponent(z, erfcArgument(z)));
    }
    expRange(e, e, n, 1, 0);
    for (let i = 0; i < n; i += 4) {
      const at = skip + ((<usize>i) << 2);
      const whole = i + 4 <= n;
      const value = whole ? v128.load(x + at) : loadPart(x + at, n - i, 0);
      const t = erfcArgument(f32x4.mul(f32x4.abs(value), root));
      const tail = f32x4.mul(f32x4.mul(t, v128.load(e + ((<usize>i) << 2))), f32x4.splat(0.5));
      const positive = f32x4.ge(value, f32x4.splat(0));
      const y = f32x4.mul(value, v128.bitselect(f32x4.sub(f32x4.splat(1), tail), tail, positive));
      if (whole) v128.store(to + at, y);
      else storePart(to + at, n - i, y);
    }
  }
}

/** `to = max(x, 0)^2`. */
function squaredReluRange(to: usize, x: usize, count: i32): void {
  for (let left = count; left > 0; left -= 4) {
    const y = f32x4.pmax(left >= 4 ? v128.load(x) : loadPart(x, left, 0), f32x4.splat(0));
    if (left >= 4) v128.store(to, f32x4.mul(y, y));
    else storePart(to, left, f32x4.mul(y, y));
    to += 16;
    x += 16;
  }
}

/** `to = |x|`. */
function absoluteRange(to: usize, x: usize, count: i32): void {
  for (let left = count; left > 0; left -= 4) {
    if (left >= 4) v128.store(to, f32x4.abs(v128.load(x)));
    else storePart(to, left, f32x4.abs(loadPart(x, left, 0)));
    to += 16;
    x += 16;
  }
}

/** One of the activations on `count` elements: 1 SiLU, 2 squared ReLU, 3 GELU, 4 absolute value. `to` may be `x`. */
export function activate(to: usize, x: usize, count: i32, kind: i32): void {
  if (kind === 1) siluRange(to, x, 0, count);
  else if (kind === 2) squaredReluRange(to, x, count);
  else if (kind === 4) absoluteRange(to, x, count);
  else geluRange(to, x, count);
}

/** `to [rows, f] = silu(x[:, :f]) * x[:, f:]`. */
export function swigluRows(to: usize, x: usize, rows: i32, f: i32): void {
  const half = (<usize>f) << 2;
  for (let row = 0; row < rows; row++) {
    siluRange(to, x, x + half, f);
    to += half;
    x += 2 * half;
  }
}
