// One-axis resampling filters and the separable resize that uses them, with PyTorch's `F.interpolate` semantics.
import type { RgbImage } from './types.js';

/** For each output position of one axis: the first input position, how many follow, and their weights. */
export interface AxisFilter {
  /** [n] */
  readonly first: Int32Array;
  /** [n] */
  readonly count: Int32Array;
  /** [n, stride]; entries past `count` are unused. */
  readonly weights: Float32Array;
  readonly stride: number;
}

/** Output positions `start … start + length - 1` of an axis that is scaled from `from` to `to` samples. */
export interface AxisWindow {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly length: number;
}

/** Bilinear is the triangle of support 1, bicubic Keys' cubic of support 2 with a = -0.5. */
export type FilterKind = 'bilinear' | 'bicubic';

/**
 * Antialiased filter of an axis: the kernel is widened by the scale when shrinking (`F.interpolate(antialias=True,
 * align_corners=False)`); its weights are cut at the borders and normalised to sum 1.
 */
export function antialiasedAxis(kind: FilterKind, window: AxisWindow): AxisFilter {
  const { from, to, start, length } = window;
  const f = Math.fround;
  const scale = f(from / to);
  const radius = kind === 'bilinear' ? 1 : 2;
  const support = scale >= 1 ? f(radius * scale) : radius;
  const inverse = scale >= 1 ? f(1 / scale) : 1;
  const kernel = kind === 'bilinear' ? triangle : cubic;
  const stride = Math.min(from, Math.ceil(support) * 2 + 1);
  const filter = emptyFilter(length, stride);
  for (let i = 0; i < length; i++) {
    const centre = f(scale * (start + i + 0.5));
    const first = Math.max(0, Math.trunc(centre - support + 0.5));
    const count = Math.min(stride, Math.min(from, Math.trunc(centre + support + 0.5)) - first);
    let total = 0;
    for (let j = 0; j < count; j++) {
      const weight = f(kernel(f((j + first - centre + 0.5) * inverse)));
      filter.weights[i * stride + j] = weight;
      total = f(total + weight);
    }
    for (let j = 0; j < count; j++) {
      filter.weights[i * stride + j] = (filter.weights[i * stride + j] as number) / total;
    }
    filter.first[i] = first;
    filter.count[i] = count;
  }
  return filter;
}

/** Plain bilinear filter of an axis: two neighbours, no antialiasing (`align_corners=False`, source clamped at 0). */
export function bilinearAxis(window: AxisWindow): AxisFilter {
  const { from, to, start, length } = window;
  const f = Math.fround;
  const scale = f(from / to);
  const filter = emptyFilter(length, 2);
  for (let i = 0; i < length; i++) {
    const source = Math.max(0, f(f(scale * f(start + i + 0.5)) - 0.5));
    const first = Math.min(Math.trunc(source), from - 1);
    const weight = Math.min(1, Math.max(0, f(source - first)));
    filter.first[i] = first;
    filter.count[i] = first + 1 < from ? 2 : 1;
    filter.weights[2 * i] = first + 1 < from ? 1 - weight : 1;
    filter.weights[2 * i + 1] = weight;
  }
  return filter;
}

/**
 * Plain bicubic filter of an axis with a = -0.75, no antialiasing, border samples repeated: OpenCV's INTER_CUBIC in
 * floating point.
 */
export function cubicAxis(window: AxisWindow): AxisFilter {
  const { from, to, start, length } = window;
  const a = -0.75;
  const filter = emptyFilter(length, 4);
  for (let i = 0; i < length; i++) {
    const source = ((start + i + 0.5) * from) / to - 0.5;
    const whole = Math.floor(source);
    const first = Math.min(Math.max(whole - 1, 0), Math.max(from - 4, 0));
    const count = Math.min(4, from);
    for (let tap = -1; tap <= 2; tap++) {
      const sample = Math.min(Math.max(whole + tap, 0), from - 1);
      const at = i * 4 + sample - first;
      filter.weights[at] = (filter.weights[at] as number) + cubic(source - whole - tap, a);
    }
    filter.first[i] = first;
    filter.count[i] = count;
  }
  return filter;
}

/**
 * Applies `across` to each row, then `down` to each column, in float32, and rounds half to even into 0 … 255.
 * Rows are filtered as they are needed and kept in a ring, so that memory is that of the output plus a few rows.
 * Gives [down.length, across.length, 3].
 */
export function applyFilters(image: RgbImage, across: AxisFilter, down: AxisFilter): RgbImage {
  const width = across.first.length;
  const height = down.first.length;
  const out = new Uint8Array(width * height * 3);
  const ringRows = down.stride + 1;
  const ring = Array.from({ length: ringRows }, () => new Float32Array(width * 3));
  const held = new Int32Array(ringRows).fill(-1);
  const sum = new Float32Array(width * 3);
  for (let y = 0; y < height; y++) {
    const first = down.first[y] as number;
    const count = down.count[y] as number;
    sum.fill(0);
    for (let j = 0; j < count; j++) {
      const row = first + j;
      const slot = row % ringRows;
      const filtered = ring[slot] as Float32Array;
      if (held[slot] !== row) {
        filterRow(image, row, across, filtered);
        held[slot] = row;
      }
      const weight = down.weights[y * down.stride + j] as number;
      for (let x = 0; x < sum.length; x++) sum[x] = (sum[x] as number) + (filtered[x] as number) * weight;
    }
    for (let x = 0; x < sum.length; x++) out[y * sum.length + x] = roundToByte(sum[x] as number);
  }
  return { width, height, data: out };
}

function filterRow(image: RgbImage, row: number, across: AxisFilter, out: Float32Array): void {
  const { data } = image;
  const base = row * image.width * 3;
  const { first, count, weights, stride } = across;
  for (let x = 0; x < first.length; x++) {
    let r = 0;
    let g = 0;
    let b = 0;
    let at = base + (first[x] as number) * 3;
    const n = count[x] as number;
    for (let j = 0; j < n; j++, at += 3) {
      const weight = weights[x * stride + j] as number;
      r += (data[at] as number) * weight;
      g += (data[at + 1] as number) * weight;
      b += (data[at + 2] as number) * weight;
    }
    out[3 * x] = r;
    out[3 * x + 1] = g;
    out[3 * x + 2] = b;
  }
}

/** Rounds half to even and clamps to 0 … 255. */
export function roundToByte(value: number): number {
  const clamped = Math.min(255, Math.max(0, value));
  const down = Math.floor(clamped);
  const rest = clamped - down;
  return rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? down + 1 : down;
}

function triangle(x: number): number {
  const distance = Math.abs(x);
  return distance < 1 ? 1 - distance : 0;
}

function cubic(x: number, a = -0.5): number {
  const d = Math.abs(x);
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return (((d - 5) * d + 8) * d - 4) * a;
  return 0;
}

function emptyFilter(length: number, stride: number): AxisFilter {
  return {
    first: new Int32Array(length),
    count: new Int32Array(length),
    weights: new Float32Array(length * stride),
    stride,
  };
}
