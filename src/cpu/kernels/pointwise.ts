// Pointwise ops on float32.
import { lanes, loadPart, sinSquared4, storePart } from './math';

/** `to = a + b`, or `a * b` when `multiply`, on `count` elements each. */
export function pairSame(to: usize, a: usize, b: usize, count: i32, multiply: bool): void {
  let left = count;
  for (; left >= 4; left -= 4) {
    const x = v128.load(a);
    const y = v128.load(b);
    v128.store(to, multiply ? f32x4.mul(x, y) : f32x4.add(x, y));
    to += 16;
    a += 16;
    b += 16;
  }
  if (left > 0) {
    const x = loadPart(a, left, 0);
    const y = loadPart(b, left, 0);
    storePart(to, left, multiply ? f32x4.mul(x, y) : f32x4.add(x, y));
  }
}

/** `pairSame` of each of `rows` rows of `c` elements with the same `b [c]`. */
export function pairSpread(to: usize, a: usize, b: usize, rows: i32, c: i32, multiply: bool): void {
  for (let row = 0; row < rows; row++) {
    pairSame(to, a, b, c, multiply);
    to += (<usize>c) << 2;
    a += (<usize>c) << 2;
  }
}

/** `to = x + sin(frequency x)^2 * inverse`, per channel. */
export function snakeRows(to: usize, x: usize, frequency: usize, inverse: usize, rows: i32, c: i32): void {
  for (let row = 0; row < rows; row++) {
    let i = 0;
    for (; i + 4 <= c; i += 4) {
      const at = (<usize>i) << 2;
      const y = v128.load(x + at);
      const wave = sinSquared4(f32x4.mul(y, v128.load(frequency + at)));
      v128.store(to + at, f32x4.add(y, f32x4.mul(wave, v128.load(inverse + at))));
    }
    if (i < c) {
      const at = (<usize>i) << 2;
      const y = loadPart(x + at, c - i, 0);
      const wave = sinSquared4(f32x4.mul(y, loadPart(frequency + at, c - i, 0)));
      storePart(to + at, c - i, f32x4.add(y, f32x4.mul(wave, loadPart(inverse + at, c - i, 0))));
    }
    x += (<usize>c) << 2;
    to += (<usize>c) << 2;
  }
}

/** Mean of each of `rows` rows. */
export function meanRows(to: usize, x: usize, rows: i32, c: i32): void {
  for (let row = 0; row < rows; row++) {
    let s = f32x4.splat(0);
    let i = 0;
    for (; i + 4 <= c; i += 4) s = f32x4.add(s, v128.load(x + ((<usize>i) << 2)));
    let sum = lanes(s);
    for (; i < c; i++) sum += load<f32>(x + ((<usize>i) << 2));
    store<f32>(to + ((<usize>row) << 2), sum / <f32>c);
    x += (<usize>c) << 2;
  }
}

/**
 * `to = sum of factor[k] * term[k]` on `count` elements from element `start` on, in order of the terms.
 * `table` holds pairs of float64: the address of a term and its factor. All are read before `to` is written, so it may be a term.
 */
export function combine(to: usize, table: usize, terms: i32, start: i32, count: i32): void {
  const skip = (<usize>start) << 2;
  to += skip;
  let i = 0;
  for (; i < count; i += 4) {
    const at = skip + ((<usize>i) << 2);
    const left = count - i;
    // Terms nearly cancel each other (guidance, solvers), so they are summed in float64 and rounded once.
    let low = f64x2.splat(0);
    let high = f64x2.splat(0);
    for (let k = 0; k < terms; k++) {
      const pair = table + ((<usize>k) << 4);
      const from = <usize>load<f64>(pair) + at;
      const x = left >= 4 ? v128.load(from) : loadPart(from, left, 0);
      const factor = f64x2.splat(load<f64>(pair, 8));
      low = f64x2.add(low, f64x2.mul(factor, f64x2.promote_low_f32x4(x)));
      high = f64x2.add(high, f64x2.mul(factor, f64x2.promote_low_f32x4(i64x2.shuffle(x, x, 1, 1))));
    }
    const sum = i64x2.shuffle(f32x4.demote_f64x2_zero(low), f32x4.demote_f64x2_zero(high), 0, 2);
    if (left >= 4) v128.store(to, sum);
    else storePart(to, left, sum);
    to += 16;
  }
}

/** `to = x + mask[row] * row`. */
export function addRows(to: usize, x: usize, row: usize, mask: usize, rows: i32, c: i32): void {
  for (let r = 0; r < rows; r++) {
    const on = load<f32>(mask + ((<usize>r) << 2));
    const factor = f32x4.splat(on);
    let i = 0;
    for (; i + 4 <= c; i += 4) {
      const at = (<usize>i) << 2;
      v128.store(to + at, f32x4.add(v128.load(x + at), f32x4.mul(factor, v128.load(row + at))));
    }
    for (; i < c; i++) {
      const at = (<usize>i) << 2;
      store<f32>(to + at, load<f32>(x + at) + on * load<f32>(row + at));
    }
    x += (<usize>c) << 2;
    to += (<usize>c) << 2;
  }
}

/** `[-1, 1]` to bytes: clamp, `(x + 1) * 127.5`, halves to even. */
export function toBytes(to: usize, x: usize, count: i32): void {
  const one = f32x4.splat(1);
  const scale = f32x4.splat(127.5);
  let left = count;
  for (; left >= 4; left -= 4) {
    const y = f32x4.max(f32x4.min(v128.load(x), one), f32x4.splat(-1));
    const n = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(f32x4.add(y, one), scale)));
    const words = i16x8.narrow_i32x4_s(n, n);
    v128.store32_lane(to, i8x16.narrow_i16x8_u(words, words), 0);
    x += 16;
    to += 4;
  }
  for (; left > 0; left--) {
    const y = max(min(load<f32>(x), <f32>1), <f32>-1);
    store<u8>(to, <u8>nearest<f32>((y + 1) * 127.5));
    x += 4;
    to += 1;
  }
}
