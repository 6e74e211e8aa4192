// Rotary positions, with the norm of each head in the same pass.
import { lanes } from './math';

/**
 * Heads of `d` floats, `heads` of them in each of `rows` rows (`stride` bytes a row): normed by `weight` unless its address is 0,
 * then rotated by halves with `cos` and `sin` `[rows, d]`. Writes `to [rows, heads, d]`.
 */
export function rotateHeads(
  to: usize,
  x: usize,
  stride: usize,
  rows: i32,
  heads: i32,
  d: i32,
  weight: usize,
  eps: f32,
  cos: usize,
  sin: usize,
): void {
  const half = d >> 1;
  const far = (<usize>half) << 2;
  const size = (<usize>d) << 2;
  for (let row = 0; row < rows; row++) {
    let head = x;
    for (let h = 0; h < heads; h++) {
      let factor: f32 = 1;
      if (weight) factor = <f32>1 / sqrt<f32>(squares(head, d) / <f32>d + eps);
      const scale = f32x4.splat(factor);
      let i = 0;
      for (; i + 4 <= half; i += 4) {
        const at = (<usize>i) << 2;
        let a = v128.load(head + at);
        let b = v128.load(head + at + far);
        if (weight) {
          a = f32x4.mul(f32x4.mul(a, scale), v128.load(weight + at));
          b = f32x4.mul(f32x4.mul(b, scale), v128.load(weight + at + far));
        }
        const low = f32x4.sub(f32x4.mul(a, v128.load(cos + at)), f32x4.mul(b, v128.load(sin + at)));
        const high = f32x4.add(f32x4.mul(b, v128.load(cos + at + far)), f32x4.mul(a, v128.load(sin + at + far)));
        v128.store(to + at, low);
        v128.store(to + at + far, high);
      }
      for (; i < half; i++) {
        const at = (<usize>i) << 2;
        let a = load<f32>(head + at);
        let b = load<f32>(head + at + far);
        if (weight) {
          a = a * factor * load<f32>(weight + at);
          b = b * factor * load<f32>(weight + at + far);
        }
        store<f32>(to + at, a * load<f32>(cos + at) - b * load<f32>(sin + at));
        store<f32>(to + at + far, b * load<f32>(cos + at + far) + a * load<f32>(sin + at + far));
      }
      head += size;
      to += size;
    }
    x += stride;
    cos += size;
    sin += size;
  }
}

function squares(x: usize, d: i32): f32 {
  let s = f32x4.splat(0);
  let i = 0;
  for (; i + 4 <= d; i += 4) {
    const a = v128.load(x + ((<usize>i) << 2));
    s = f32x4.add(s, f32x4.mul(a, a));
  }
  let sum = lanes(s);
  for (; i < d; i++) sum += load<f32>(x + ((<usize>i) << 2)) * load<f32>(x + ((<usize>i) << 2));
  return sum;
}
