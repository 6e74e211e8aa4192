// Stored elements to float32 and back, and rows laid out as the products read them.
// Dtype numbers: 0 float32, 1 float16, 2 bfloat16, 3 FP8 e4m3, 4 FP8 e5m2.
import { storePart } from './math';

/** float16 bits in the low halves of four lanes to float32: the exponent is moved by a product, which also normalises. */
function widenHalf(h: v128): v128 {
  const sign = i32x4.shl(v128.and(h, i32x4.splat(0x8000)), 16);
  const size = i32x4.shl(v128.and(h, i32x4.splat(0x7fff)), 13);
  const value = f32x4.mul(size, f32x4.splat(5.192296858534828e33)); // 2^112
  const special = i32x4.ge_s(size, i32x4.splat(0x0f800000));
  const infinite = v128.or(size, i32x4.splat(0x7f800000));
  return v128.or(sign, v128.bitselect(infinite, value, special));
}

function widenE4m3(b: v128): v128 {
  const sign = i32x4.shl(v128.and(b, i32x4.splat(0x80)), 24);
  const bits = v128.and(b, i32x4.splat(0x7f));
  const value = f32x4.mul(i32x4.shl(bits, 20), f32x4.splat(1.329227995784916e36)); // 2^120
  const nan = i32x4.eq(bits, i32x4.splat(0x7f));
  return v128.or(sign, v128.bitselect(i32x4.splat(0x7fc00000), value, nan));
}

function widen4(from: usize, dtype: i32): v128 {
  if (dtype === 1) return widenHalf(i32x4.extend_low_i16x8_u(v128.load64_zero(from)));
  if (dtype === 2) return i32x4.shl(i32x4.extend_low_i16x8_u(v128.load64_zero(from)), 16);
  const bytes = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(from)));
  return dtype === 3 ? widenE4m3(bytes) : widenHalf(i32x4.shl(bytes, 8));
}

/** `count` elements of `dtype` to float32, times `scale`. Reads up to three elements beyond the end, writes none. */
export function widen(to: usize, from: usize, count: i32, dtype: i32, scale: f32): void {
  const factor = f32x4.splat(scale);
  const size: usize = dtype === 0 ? 4 : dtype <= 2 ? 2 : 1;
  let left = count;
  for (; left >= 4; left -= 4) {
    const x = dtype === 0 ? v128.load(from) : widen4(from, dtype);
    v128.store(to, f32x4.mul(x, factor));
    from += size << 2;
    to += 16;
  }
  if (left > 0) {
    const x = f32x4.mul(dtype === 0 ? v128.load(from) : widen4(from, dtype), factor);
    storePart(to, left, x);
  }
}

/** float32 to bfloat16, nearest even. */
export function narrow(to: usize, from: usize, count: i32): void {
  for (let i = 0; i < count; i++) {
    const bits = load<u32>(from + ((<usize>i) << 2));
    const rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const isNan = (bits & 0x7fffffff) > 0x7f800000;
    store<u16>(to + ((<usize>i) << 1), <u16>(isNan ? (bits >> 16) | 0x40 : rounded));
  }
}

/** A row `[c, taps]` written as `[taps, c]`, `step` bytes from one element to the next. */
export function scatterRow(to: usize, step: usize, from: usize, c: i32, taps: i32): void {
  const stride = (<usize>taps) << 2;
  for (let tap = 0; tap < taps; tap++) {
    let at = from + ((<usize>tap) << 2);
    for (let i = 0; i < c; i++) {
      store<f32>(to, load<f32>(at));
      at += stride;
      to += step;
    }
  }
}

/** `rows` rows of `k` floats as panels of eight columns: `[rows / 8][k][8]`. Missing rows of the last panel are zero. */
export function interleaveRows(to: usize, from: usize, stride: usize, rows: i32, k: i32): void {
  for (let row = 0; row < rows; row += 8) {
    for (let half = 0; half < 8; half += 4) {
      interleave4(to + ((<usize>half) << 2), from + <usize>(row + half) * stride, stride, min(4, rows - row - half), k);
    }
    to += (<usize>k) << 5;
  }
}

function interleave4(to: usize, from: usize, stride: usize, rows: i32, k: i32): void {
  let i = 0;
  if (rows >= 4) {
    for (; i + 4 <= k; i += 4) {
      const at = from + ((<usize>i) << 2);
      const x0 = v128.load(at);
      const x1 = v128.load(at + stride);
      const x2 = v128.load(at + 2 * stride);
      const x3 = v128.load(at + 3 * stride);
      const a = v128.shuffle<f32>(x0, x1, 0, 4, 1, 5);
      const b = v128.shuffle<f32>(x2, x3, 0, 4, 1, 5);
      const c = v128.shuffle<f32>(x0, x1, 2, 6, 3, 7);
      const d = v128.shuffle<f32>(x2, x3, 2, 6, 3, 7);
      v128.store(to, v128.shuffle<f32>(a, b, 0, 1, 4, 5));
      v128.store(to, v128.shuffle<f32>(a, b, 2, 3, 6, 7), 32);
      v128.store(to, v128.shuffle<f32>(c, d, 0, 1, 4, 5), 64);
      v128.store(to, v128.shuffle<f32>(c, d, 2, 3, 6, 7), 96);
      to += 128;
    }
  }
  for (; i < k; i++) {
    let x = f32x4.splat(0);
    const at = from + ((<usize>i) << 2);
    if (rows > 0) x = f32x4.replace_lane(x, 0, load<f32>(at));
    if (rows > 1) x = f32x4.replace_lane(x, 1, load<f32>(at + stride));
    if (rows > 2) x = f32x4.replace_lane(x, 2, load<f32>(at + 2 * stride));
    if (rows > 3) x = f32x4.replace_lane(x, 3, load<f32>(at + 3 * stride));
    v128.store(to, x);
    to += 32;
  }
}

/** `rows` rows of `n` floats (`stride` bytes apart) as panels of eight columns: `[n / 8][rows][8]`. Missing columns stay as they are. */
export function panelColumns(to: usize, from: usize, stride: usize, rows: i32, n: i32): void {
  const panel = (<usize>rows) << 5;
  for (let row = 0; row < rows; row++) {
    let out = to + ((<usize>row) << 5);
    let j = 0;
    for (; j + 8 <= n; j += 8) {
      const at = from + ((<usize>j) << 2);
      v128.store(out, v128.load(at));
      v128.store(out, v128.load(at, 16), 16);
      out += panel;
    }
    for (let i = j; i < n; i++) store<f32>(out + ((<usize>(i - j)) << 2), load<f32>(from + ((<usize>i) << 2)));
    from += stride;
  }
}
