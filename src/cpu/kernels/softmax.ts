// The softmax of attention, block by block of keys, with the largest score and the sum of each row carried along.
import { expRange } from './math';

/** Largest of `count` floats, `count` at least 1. */
function largest(from: usize, count: i32): f32 {
  let best = f32x4.splat(load<f32>(from));
  let i = 0;
  for (; i + 4 <= count; i += 4) best = f32x4.pmax(best, v128.load(from + ((<usize>i) << 2)));
  let top = max(
    max(f32x4.extract_lane(best, 0), f32x4.extract_lane(best, 1)),
    max(f32x4.extract_lane(best, 2), f32x4.extract_lane(best, 3)),
  );
  for (; i < count; i++) top = max(top, load<f32>(from + ((<usize>i) << 2)));
  return top;
}

/**
 * Turns a block of scores `[rows, columns]` (`stride` bytes a row) into weights, in place.
 * `state` holds the largest scaled score and the sum per row; `out` `[rows, d]` is scaled down when the largest grows.
 * Row i sees columns below `limit + i`, all of them when `limit >= columns`; the others become 0.
 */
export function softmaxBlock(
  scores: usize,
  stride: usize,
  rows: i32,
  columns: i32,
  limit: i32,
  scale: f32,
  state: usize,
  out: usize,
  d: i32,
  first: bool,
): void {
  for (let i = 0; i < rows; i++) {
    const seen = max(0, min(columns, limit >= columns ? columns : limit + i));
    const row = scores + <usize>i * stride;
    const at = state + ((<usize>i) << 3);
    if (first) {
      store<f32>(at, -Infinity);
      store<f32>(at, 0, 4);
    }
    if (seen > 0) {
      const before = load<f32>(at);
      // A negative factor would turn the order around.
      const top = scale >= 0 ? largest(row, seen) * scale : largestScaled(row, seen, scale);
      const now = max(before, top);
      const total = expRange(row, row, seen, scale, now);
      let shrink: f32 = 1;
      if (before !== now) {
        store<f32>(at, before - now);
        expRange(at, at, 1, 1, 0);
        shrink = load<f32>(at);
      }
      store<f32>(at, now);
      store<f32>(at, load<f32>(at, 4) * shrink + total, 4);
      if (!first && shrink !== 1) scaleRow(out + <usize>(i * d) * 4, d, shrink);
    }
    for (let j = seen; j < columns; j++) store<f32>(row + ((<usize>j) << 2), 0);
  }
}

function largestScaled(from: usize, count: i32, scale: f32): f32 {
  let top: f32 = -Infinity;
  for (let i = 0; i < count; i++) top = max(top, load<f32>(from + ((<usize>i) << 2)) * scale);
  return top;
}

function scaleRow(at: usize, d: i32, factor: f32): void {
  const by = f32x4.splat(factor);
  let i = 0;
  for (; i + 4 <= d; i += 4) v128.store(at + ((<usize>i) << 2), f32x4.mul(v128.load(at + ((<usize>i) << 2)), by));
  for (; i < d; i++) store<f32>(at + ((<usize>i) << 2), load<f32>(at + ((<usize>i) << 2)) * factor);
}

/** `to [rows, d]` (`stride` bytes a row) = `out [rows, d]` divided by each row's sum; rows that saw no key become 0. */
export function divideRows(to: usize, stride: usize, out: usize, rows: i32, d: i32, state: usize): void {
  for (let i = 0; i < rows; i++) {
    const sum = load<f32>(state + ((<usize>i) << 3), 4);
    const by: f32 = sum === 0 ? 0 : <f32>1 / sum;
    const row = to + <usize>i * stride;
    const from = out + <usize>(i * d) * 4;
    const factor = f32x4.splat(by);
    let j = 0;
    for (; j + 4 <= d; j += 4)
      v128.store(row + ((<usize>j) << 2), f32x4.mul(v128.load(from + ((<usize>j) << 2)), factor));
    for (; j < d; j++) store<f32>(row + ((<usize>j) << 2), load<f32>(from + ((<usize>j) << 2)) * by);
  }
}
