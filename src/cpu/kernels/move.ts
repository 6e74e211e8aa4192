// Moving elements: rows with strides, permuted blocks, patches for convolutions, enlarged pictures.

/** Copies `bytes` bytes; runs are short, so that a call of the engine's own copy would cost more than it moves. */
function copyBytes(to: usize, from: usize, bytes: usize): void {
  if (bytes >= 512) {
    memory.copy(to, from, bytes);
    return;
  }
  while (bytes >= 16) {
    v128.store(to, v128.load(from));
    to += 16;
    from += 16;
    bytes -= 16;
  }
  while (bytes >= 4) {
    store<u32>(to, load<u32>(from));
    to += 4;
    from += 4;
    bytes -= 4;
  }
  while (bytes > 0) {
    store<u8>(to, load<u8>(from));
    to += 1;
    from += 1;
    bytes -= 1;
  }
}

function zeroBytes(to: usize, bytes: usize): void {
  const zero = f32x4.splat(0);
  while (bytes >= 16) {
    v128.store(to, zero);
    to += 16;
    bytes -= 16;
  }
  while (bytes > 0) {
    store<u32>(to, 0);
    to += 4;
    bytes -= 4;
  }
}

/** `rows` runs of `bytes` bytes from one stride to another. */
export function copyRows(to: usize, toStride: usize, from: usize, fromStride: usize, bytes: usize, rows: i32): void {
  for (let row = 0; row < rows; row++) {
    copyBytes(to, from, bytes);
    to += toStride;
    from += fromStride;
  }
}

/** `rows` rows of `count` floats (`stride` bytes apart), each a copy of `row`; zeros when its address is 0. */
export function fillRows(to: usize, stride: usize, row: usize, count: i32, rows: i32): void {
  for (let i = 0; i < rows; i++) {
    if (row) copyBytes(to, row, (<usize>count) << 2);
    else zeroBytes(to, (<usize>count) << 2);
    to += stride;
  }
}

/** A block `[n0, n1, n2]` of units of `unit` bytes, read with strides `s0 s1 s2` (bytes), written densely. */
export function copyStrided(
  to: usize,
  from: usize,
  n0: i32,
  s0: usize,
  n1: i32,
  s1: usize,
  n2: i32,
  s2: usize,
  unit: i32,
): void {
  for (let i = 0; i < n0; i++) {
    if (unit === 4 && s1 === 4) transpose(to, from + <usize>i * s0, n1, n2, s2);
    else {
      let out = to;
      for (let j = 0; j < n1; j++) {
        let at = from + <usize>i * s0 + <usize>j * s1;
        if (unit === 4) {
          for (let k = 0; k < n2; k++) {
            store<u32>(out, load<u32>(at));
            out += 4;
            at += s2;
          }
        } else {
          for (let k = 0; k < n2; k++) {
            copyBytes(out, at, unit);
            out += unit;
            at += s2;
          }
        }
      }
    }
    to += <usize>(n1 * n2) * <usize>unit;
  }
}

/** `[n2, n1]` floats (`stride` bytes a row) to `[n1, n2]`, in blocks that stay in the nearest cache. */
function transpose(to: usize, from: usize, n1: i32, n2: i32, stride: usize): void {
  const width = (<usize>n2) << 2;
  for (let j0 = 0; j0 < n1; j0 += 16) {
    const j1 = min(n1, j0 + 16);
    let k = 0;
    for (; k + 4 <= n2; k += 4) {
      const row = from + <usize>k * stride;
      let j = j0;
      for (; j + 4 <= j1; j += 4) {
        const at = row + ((<usize>j) << 2);
        const x0 = v128.load(at);
        const x1 = v128.load(at + stride);
        const x2 = v128.load(at + 2 * stride);
        const x3 = v128.load(at + 3 * stride);
        const a = v128.shuffle<f32>(x0, x1, 0, 4, 1, 5);
        const b = v128.shuffle<f32>(x2, x3, 0, 4, 1, 5);
        const c = v128.shuffle<f32>(x0, x1, 2, 6, 3, 7);
        const d = v128.shuffle<f32>(x2, x3, 2, 6, 3, 7);
        const out = to + <usize>j * width + ((<usize>k) << 2);
        v128.store(out, v128.shuffle<f32>(a, b, 0, 1, 4, 5));
        v128.store(out + width, v128.shuffle<f32>(a, b, 2, 3, 6, 7));
        v128.store(out + 2 * width, v128.shuffle<f32>(c, d, 0, 1, 4, 5));
        v128.store(out + 3 * width, v128.shuffle<f32>(c, d, 2, 3, 6, 7));
      }
      for (; j < j1; j++) {
        for (let i = 0; i < 4; i++) {
          const out = to + <usize>j * width + ((<usize>(k + i)) << 2);
          store<u32>(out, load<u32>(row + <usize>i * stride + ((<usize>j) << 2)));
        }
      }
    }
    for (; k < n2; k++) {
      for (let j = j0; j < j1; j++) {
        store<u32>(to + <usize>j * width + ((<usize>k) << 2), load<u32>(from + <usize>k * stride + ((<usize>j) << 2)));
      }
    }
  }
}

/** Rows `[w, pixel bytes]`, each enlarged `factor` times in both directions. */
export function upsampleRows(to: usize, from: usize, rows: i32, w: i32, pixel: usize, factor: i32): void {
  const width = <usize>(w * factor) * pixel;
  for (let row = 0; row < rows; row++) {
    let out = to;
    for (let i = 0; i < w; i++) {
      for (let n = 0; n < factor; n++) {
        copyBytes(out, from, pixel);
        out += pixel;
      }
      from += pixel;
    }
    for (let n = 1; n < factor; n++) {
      memory.copy(out, to, width);
      out += width;
    }
    to = out;
  }
}

/**
 * Rows of a convolution's left matrix: for output pixels `first..first + count`, taps `tap..lastTap`, `c` channels each, zeros beyond the picture.
 * `shape` points at float64s: t h w, bytes of a pixel, oh ow, kh kw, strides t h w, dilation t h w, padding before t h w.
 */
export function gatherPatches(
  to: usize,
  x: usize,
  c: i32,
  first: i32,
  count: i32,
  tap: i32,
  lastTap: i32,
  shape: usize,
): void {
  const t = <i32>load<f64>(shape);
  const h = <i32>load<f64>(shape, 8);
  const w = <i32>load<f64>(shape, 16);
  const pixel = <usize>load<f64>(shape, 24);
  const oh = <i32>load<f64>(shape, 32);
  const ow = <i32>load<f64>(shape, 40);
  const kh = <i32>load<f64>(shape, 48);
  const kw = <i32>load<f64>(shape, 56);
  const dt = <i32>load<f64>(shape, 88);
  const dh = <i32>load<f64>(shape, 96);
  const dw = <i32>load<f64>(shape, 104);
  const run = (<usize>c) << 2;
  // Taps beside each other read pixels beside each other, which lie in one piece when all channels are taken.
  const joined = dw === 1 && run === pixel;
  const firstA = tap / (kh * kw);
  const firstB = (tap / kw) % kh;
  const firstD = tap % kw;
  for (let p = first; p < first + count; p++) {
    const t0 = (p / (oh * ow)) * <i32>load<f64>(shape, 64) - <i32>load<f64>(shape, 112);
    const h0 = ((p / ow) % oh) * <i32>load<f64>(shape, 72) - <i32>load<f64>(shape, 120);
    const w0 = (p % ow) * <i32>load<f64>(shape, 80) - <i32>load<f64>(shape, 128);
    let a = firstA;
    let b = firstB;
    let d = firstD;
    for (let n = tap; n < lastTap; ) {
      const taps = joined ? min(kw - d, lastTap - n) : 1;
      const bytes = <usize>taps * run;
      const it = t0 + a * dt;
      const ih = h0 + b * dh;
      const iw = w0 + d * dw;
      if (<u32>it >= <u32>t || <u32>ih >= <u32>h) zeroBytes(to, bytes);
      else {
        const row = x + <usize>((it * h + ih) * w) * pixel;
        if (iw >= 0 && iw + taps <= w) copyBytes(to, row + <usize>iw * pixel, bytes);
        else {
          const low = max(0, min(taps, -iw));
          const high = max(low, min(taps, w - iw));
          zeroBytes(to, <usize>low * run);
          if (high > low) copyBytes(to + <usize>low * run, row + <usize>(iw + low) * pixel, <usize>(high - low) * run);
          zeroBytes(to + <usize>high * run, <usize>(taps - high) * run);
        }
      }
      to += bytes;
      n += taps;
      d += taps;
      if (d === kw) {
        d = 0;
        if (++b === kh) {
          b = 0;
          a++;
        }
      }
    }
  }
}
