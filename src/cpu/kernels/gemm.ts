// Matrix products on 4 x 8 blocks of the result held in registers: 8 sums, 2 vectors of B, 1 value of A at a time.
// B is read as panels of eight columns: `ldb` bytes from one k to the next, `panel` bytes from one eight to the next.

import { edge } from './work';

/** Products summed in one run before the run joins the others: short runs keep the rounding of long sums small. */
const sumLength: i32 = 32;

function block4(k: i32, a: usize, lda: usize, b: usize, ldb: usize, c: usize, ldc: usize, add: bool): void {
  let a1 = a + lda;
  let a2 = a1 + lda;
  let a3 = a2 + lda;
  const c1 = c + ldc;
  const c2 = c1 + ldc;
  const c3 = c2 + ldc;
  let s00 = f32x4.splat(0);
  let s01 = s00;
  let s10 = s00;
  let s11 = s00;
  let s20 = s00;
  let s21 = s00;
  let s30 = s00;
  let s31 = s00;
  // Counted, not compared with an end address: one may lie at 4 GiB, which is 0.
  for (let left = k; left > 0; left--) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    let x = v128.load32_splat(a);
    s00 = f32x4.add(s00, f32x4.mul(x, b0));
    s01 = f32x4.add(s01, f32x4.mul(x, b1));
    x = v128.load32_splat(a1);
    s10 = f32x4.add(s10, f32x4.mul(x, b0));
    s11 = f32x4.add(s11, f32x4.mul(x, b1));
    x = v128.load32_splat(a2);
    s20 = f32x4.add(s20, f32x4.mul(x, b0));
    s21 = f32x4.add(s21, f32x4.mul(x, b1));
    x = v128.load32_splat(a3);
    s30 = f32x4.add(s30, f32x4.mul(x, b0));
    s31 = f32x4.add(s31, f32x4.mul(x, b1));
    a += 4;
    a1 += 4;
    a2 += 4;
    a3 += 4;
    b += ldb;
  }
  if (add) {
    s00 = f32x4.add(s00, v128.load(c));
    s01 = f32x4.add(s01, v128.load(c, 16));
    s10 = f32x4.add(s10, v128.load(c1));
    s11 = f32x4.add(s11, v128.load(c1, 16));
    s20 = f32x4.add(s20, v128.load(c2));
    s21 = f32x4.add(s21, v128.load(c2, 16));
    s30 = f32x4.add(s30, v128.load(c3));
    s31 = f32x4.add(s31, v128.load(c3, 16));
  }
  v128.store(c, s00);
  v128.store(c, s01, 16);
  v128.store(c1, s10);
  v128.store(c1, s11, 16);
  v128.store(c2, s20);
  v128.store(c2, s21, 16);
  v128.store(c3, s30);
  v128.store(c3, s31, 16);
}

function block1(k: i32, a: usize, b: usize, ldb: usize, c: usize, add: bool): void {
  let s0 = f32x4.splat(0);
  let s1 = s0;
  for (let left = k; left > 0; left--) {
    const x = v128.load32_splat(a);
    s0 = f32x4.add(s0, f32x4.mul(x, v128.load(b)));
    s1 = f32x4.add(s1, f32x4.mul(x, v128.load(b, 16)));
    a += 4;
    b += ldb;
  }
  if (add) {
    s0 = f32x4.add(s0, v128.load(c));
    s1 = f32x4.add(s1, v128.load(c, 16));
  }
  v128.store(c, s0);
  v128.store(c, s1, 16);
}

/** Moves a block of `rows x columns` floats. */
function moveBlock(to: usize, toStride: usize, from: usize, fromStride: usize, rows: i32, columns: i32): void {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) store<f32>(to + ((<usize>j) << 2), load<f32>(from + ((<usize>j) << 2)));
    to += toStride;
    from += fromStride;
  }
}

/** `C [m, n] = A [m, k] B [k, n]`, added onto C when `add`. Sums run over k in runs of `sumLength`, in order. */
export function gemm(
  m: i32,
  n: i32,
  k: i32,
  a: usize,
  lda: usize,
  b: usize,
  ldb: usize,
  panel: usize,
  c: usize,
  ldc: usize,
  add: bool,
): void {
  const beside = edge();
  for (let j = 0; j < n; j += 8) {
    const columns = min(8, n - j);
    const whole = columns === 8;
    let ai = a;
    let ci = c + ((<usize>j) << 2);
    let left = m;
    while (left > 0) {
      const rows = left >= 4 ? 4 : 1;
      const at = whole ? ci : beside;
      const stride: usize = whole ? ldc : 32;
      if (!whole && add) moveBlock(beside, 32, ci, ldc, rows, columns);
      for (let done = 0; done < k; done += sumLength) {
        const length = min(sumLength, k - done);
        const from = ai + ((<usize>done) << 2);
        const row = b + <usize>done * ldb;
        if (rows === 4) block4(length, from, lda, row, ldb, at, stride, add || done > 0);
        else block1(length, from, row, ldb, at, add || done > 0);
      }
      if (!whole) moveBlock(ci, ldc, beside, 32, rows, columns);
      ai += <usize>rows * lda;
      ci += <usize>rows * ldc;
      left -= rows;
    }
    b += panel;
  }
}
