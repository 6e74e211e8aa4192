// Products of the oracle: matmul, attention and convolutions as plain loops, sums in float64.
import type { ConvOptions, ConvTransposeOptions } from '../../../src/backend/index.js';
import type { Shape } from './oracle-tensor.js';

/** `x [M, K]` times the transpose of `w [N, K]`, plus bias. */
export function matmulLoops(x: Float32Array, w: Float32Array, k: number, bias: Float32Array | null): Float32Array {
  const m = k ? x.length / k : 0;
  const n = k ? w.length / k : 0;
  const out = new Float32Array(m * n);
  for (let i = 0; i < m; i++) {
    const row = i * k;
    let j = 0;
    // Four columns at a time: independent sums keep the plain loop from waiting on itself.
    for (; j + 4 <= n; j += 4) {
      let [a, b, c, d] = [0, 0, 0, 0];
      const [wa, wb, wc, wd] = [j * k, (j + 1) * k, (j + 2) * k, (j + 3) * k];
      for (let p = 0; p < k; p++) {
        const value = x[row + p] as number;
        a += value * (w[wa + p] as number);
        b += value * (w[wb + p] as number);
        c += value * (w[wc + p] as number);
        d += value * (w[wd + p] as number);
      }
      out[i * n + j] = a + (bias?.[j] ?? 0);
      out[i * n + j + 1] = b + (bias?.[j + 1] ?? 0);
      out[i * n + j + 2] = c + (bias?.[j + 2] ?? 0);
      out[i * n + j + 3] = d + (bias?.[j + 3] ?? 0);
    }
    for (; j < n; j++) {
      let sum = 0;
      for (let p = 0; p < k; p++) sum += (x[row + p] as number) * (w[j * k + p] as number);
      out[i * n + j] = sum + (bias?.[j] ?? 0);
    }
  }
  return out;
}

export interface LoopSegment {
  readonly k: Float32Array; // [L, G, d]
  readonly v: Float32Array;
  readonly groups: number;
  /** Rows that count. */
  readonly rows: number;
}

export interface AttentionSizes {
  readonly rows: number;
  readonly heads: number;
  readonly d: number;
  readonly scale: number;
  readonly causal: boolean;
}

/** Softmax over all rows that count, two passes; no keys at all give zeros. */
export function attentionLoops(
  q: Float32Array,
  segments: readonly LoopSegment[],
  { rows, heads, d, scale, causal }: AttentionSizes,
): Float32Array {
  const out = new Float32Array(rows * heads * d);
  const scores = new Float64Array(segments.reduce((sum, segment) => sum + segment.rows, 0));
  const sums = new Float64Array(d);
  for (let s = 0; s < rows; s++)
    for (let h = 0; h < heads; h++) {
      const query = (s * heads + h) * d;
      let count = 0;
      let largest = Number.NEGATIVE_INFINITY;
      for (const { k, groups, rows: length } of segments) {
        const group = Math.floor((h * groups) / heads);
        const limit = causal ? Math.min(length, s + 1) : length;
        for (let l = 0; l < limit; l++) {
          const key = (l * groups + group) * d;
          let dot = 0;
          for (let i = 0; i < d; i++) dot += (q[query + i] as number) * (k[key + i] as number);
          scores[count++] = dot * scale;
          if (dot * scale > largest) largest = dot * scale;
        }
      }
      sums.fill(0);
      let total = 0;
      let at = 0;
      for (const { v, groups, rows: length } of segments) {
        const group = Math.floor((h * groups) / heads);
        const limit = causal ? Math.min(length, s + 1) : length;
        for (let l = 0; l < limit; l++) {
          const weight = Math.exp((scores[at++] as number) - largest);
          const value = (l * groups + group) * d;
          total += weight;
          for (let i = 0; i < d; i++) sums[i] = (sums[i] as number) + weight * (v[value + i] as number);
        }
      }
      for (let i = 0; i < d; i++) out[query + i] = count ? (sums[i] as number) / total : 0;
    }
  return out;
}

/** `x [T, H, W, C]` with `w [O, C/groups, kT, kH, kW]` into `shape [T', H', W', O]`. */
export function convLoops(
  x: Float32Array,
  from: Shape,
  w: Float32Array,
  kernel: Shape,
  shape: Shape,
  options: ConvOptions,
  bias: Float32Array | null,
): Float32Array {
  const [t, h, width, c] = from as readonly [number, number, number, number];
  const [outputs, cg, kt, kh, kw] = kernel as readonly [number, number, number, number, number];
  const [ot, oh, ow] = shape as readonly [number, number, number];
  const [st, sh, sw] = options.stride ?? [1, 1, 1];
  const [dt, dh, dw] = options.dilation ?? [1, 1, 1];
  const before = [0, 1, 2].map((i) => options.padding?.[i]?.[0] ?? 0) as [number, number, number];
  const perGroup = outputs / (options.groups ?? 1);
  const taps = kt * kh * kw;
  const rows = new Float32Array(w.length); // [O, taps, C/groups]: contiguous along the channels like x
  for (let o = 0; o < outputs; o++)
    for (let i = 0; i < cg; i++)
      for (let tap = 0; tap < taps; tap++) rows[(o * taps + tap) * cg + i] = w[(o * cg + i) * taps + tap] as number;
  const out = new Float32Array(ot * oh * ow * outputs);
  const places = new Int32Array(taps);
  const found = new Int32Array(taps);
  let at = 0;
  for (let pt = 0; pt < ot; pt++)
    for (let ph = 0; ph < oh; ph++)
      for (let pw = 0; pw < ow; pw++) {
        let count = 0;
        for (let tap = 0; tap < taps; tap++) {
          const it = pt * st - before[0] + Math.floor(tap / (kh * kw)) * dt;
          const ih = ph * sh - before[1] + (Math.floor(tap / kw) % kh) * dh;
          const iw = pw * sw - before[2] + (tap % kw) * dw;
          if (it < 0 || it >= t || ih < 0 || ih >= h || iw < 0 || iw >= width) continue;
          places[count] = ((it * h + ih) * width + iw) * c;
          found[count++] = tap;
        }
        for (let o = 0; o < outputs; o++, at++) {
          const channel = Math.floor(o / perGroup) * cg;
          let sum = bias?.[o] ?? 0;
          for (let n = 0; n < count; n++) {
            const source = (places[n] as number) + channel;
            const row = (o * taps + (found[n] as number)) * cg;
            for (let i = 0; i < cg; i++) sum += (x[source + i] as number) * (rows[row + i] as number);
          }
          out[at] = sum;
        }
      }
  return out;
}

/** `x [T, C]` with `w [C, O, k]`, each input row spread over the output. */
export function convTransposeLoops(
  x: Float32Array,
  w: Float32Array,
  kernel: Shape,
  length: number,
  options: ConvTransposeOptions,
  bias: Float32Array | null,
): Float32Array {
  const [c, outputs, k] = kernel as readonly [number, number, number];
  const rows = x.length / c;
  const sums = new Float64Array(length * outputs);
  if (bias) for (let i = 0; i < sums.length; i++) sums[i] = bias[i % outputs] as number;
  for (let t = 0; t < rows; t++)
    for (let tap = 0; tap < k; tap++) {
      const at = t * options.stride - options.padding + tap;
      if (at < 0 || at >= length) continue;
      for (let i = 0; i < c; i++) {
        const value = x[t * c + i] as number;
        for (let o = 0; o < outputs; o++)
          sums[at * outputs + o] =
            (sums[at * outputs + o] as number) + value * (w[(i * outputs + o) * k + tap] as number);
      }
    }
  return Float32Array.from(sums);
}
