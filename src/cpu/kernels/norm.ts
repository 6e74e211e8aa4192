// Norms over rows of `c` floats, sums in float32 over four lanes, RMS norm with an activation in the same pass.
import { activate } from './activation';
import { lanes, loadPart, storePart } from './math';

function sumSquares(x: usize, c: i32, mean: f32): f32 {
  const shift = f32x4.splat(mean);
  let s0 = f32x4.splat(0);
  let s1 = s0;
  let i = 0;
  for (; i + 8 <= c; i += 8) {
    const a = f32x4.sub(v128.load(x + ((<usize>i) << 2)), shift);
    const b = f32x4.sub(v128.load(x + ((<usize>i) << 2), 16), shift);
    s0 = f32x4.add(s0, f32x4.mul(a, a));
    s1 = f32x4.add(s1, f32x4.mul(b, b));
  }
  let sum = lanes(f32x4.add(s0, s1));
  for (; i < c; i++) {
    const a = load<f32>(x + ((<usize>i) << 2)) - mean;
    sum += a * a;
  }
  return sum;
}

/** `to = activate(x * rsqrt(mean(x^2) + eps) * weight)` for each row. */
export function rmsNormRows(to: usize, x: usize, weight: usize, rows: i32, c: i32, eps: f32, kind: i32): void {
  for (let row = 0; row < rows; row++) {
    const factor = f32x4.splat(<f32>1 / sqrt<f32>(sumSquares(x, c, 0) / <f32>c + eps));
    let i = 0;
    for (; i + 4 <= c; i += 4) {
      const at = (<usize>i) << 2;
      const y = f32x4.mul(f32x4.mul(v128.load(x + at), factor), v128.load(weight + at));
      v128.store(to + at, y);
    }
    if (i < c) {
      const at = (<usize>i) << 2;
      const y = f32x4.mul(f32x4.mul(loadPart(x + at, c - i, 0), factor), loadPart(weight + at, c - i, 0));
      storePart(to + at, c - i, y);
    }
    if (kind !== 0) activate(to, to, c, kind);
    x += (<usize>c) << 2;
    to += (<usize>c) << 2;
  }
}

/** `to = (x - mean) * rsqrt(var + eps) * weight + bias` for each row; no bias when its address is 0. */
export function layerNormRows(to: usize, x: usize, weight: usize, bias: usize, rows: i32, c: i32, eps: f32): void {
  for (let row = 0; row < rows; row++) {
    let s = f32x4.splat(0);
    let i = 0;
    for (; i + 4 <= c; i += 4) s = f32x4.add(s, v128.load(x + ((<usize>i) << 2)));
    let sum = lanes(s);
    for (; i < c; i++) sum += load<f32>(x + ((<usize>i) << 2));
    const mean = sum / <f32>c;
    const factor = <f32>1 / sqrt<f32>(sumSquares(x, c, mean) / <f32>c + eps);
    const shift = f32x4.splat(mean);
    const scale = f32x4.splat(factor);
    for (i = 0; i + 4 <= c; i += 4) {
      const at = (<usize>i) << 2;
      let y = f32x4.mul(f32x4.mul(f32x4.sub(v128.load(x + at), shift), scale), v128.load(weight + at));
      if (bias) y = f32x4.add(y, v128.load(bias + at));
      v128.store(to + at, y);
    }
    for (; i < c; i++) {
      const at = (<usize>i) << 2;
      const y = (load<f32>(x + at) - mean) * factor * load<f32>(weight + at);
      store<f32>(to + at, bias ? y + load<f32>(bias + at) : y);
    }
    x += (<usize>c) << 2;
    to += (<usize>c) << 2;
  }
}
