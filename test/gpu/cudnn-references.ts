// What attention and convolutions must give, by plain sums in float64 over bfloat16 values; and such values at random.
import { type ConvOptions, elementCount } from '../../src/backend/index.js';

const scratch = new Float32Array(1);
const scratchBits = new Uint32Array(scratch.buffer);

/** Bfloat16 values in [-size, size], the same for a seed. */
export function randomBits(count: number, seed: number, size = 1): Uint16Array {
  const bits = new Uint16Array(count);
  let state = seed * 2654435761 + 1;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    scratch[0] = (state / 2 ** 31) * size;
    bits[i] = (scratchBits[0] as number) >>> 16;
  }
  return bits;
}

export const floatOf = (bits: Uint16Array, i: number): number => {
  scratchBits[0] = (bits[i] as number) << 16;
  return scratch[0] as number;
};

export type Three = readonly [number, number, number];

export interface ConvCase {
  readonly size: Three;
  readonly channels: number;
  readonly outputs: number;
  readonly kernel: Three;
  readonly options: Omit<ConvOptions, 'bias'>;
}

export interface Row {
  readonly q: Uint16Array;
  readonly row: number;
  readonly head: number;
  readonly heads: number;
  readonly groups: number;
  readonly d: number;
}

export function attendRow(
  segments: readonly { readonly k: Uint16Array; readonly v: Uint16Array; readonly length: number }[],
  { q, row, head, heads, groups, d }: Row,
): Float64Array {
  const group = Math.floor(head / (heads / groups));
  const sum = new Float64Array(d);
  let total = 0;
  for (const { k, v, length } of segments)
    for (let key = 0; key < length; key++) {
      let score = 0;
      const at = (key * groups + group) * d;
      for (let i = 0; i < d; i++) score += floatOf(q, (row * heads + head) * d + i) * floatOf(k, at + i);
      const weight = Math.exp(score / Math.sqrt(d));
      total += weight;
      for (let i = 0; i < d; i++) sum[i] = (sum[i] as number) + weight * floatOf(v, at + i);
    }
  return sum.map((value) => value / total);
}

export interface Point extends Omit<ConvCase, 'outputs'> {
  readonly x: Uint16Array;
  readonly w: Uint16Array; // [O, C, kT, kH, kW]
  readonly point: Three;
  readonly o: number;
}

export function convolvePoint({ x, w, size, channels, kernel, options, point, o }: Point): number {
  const { stride = [1, 1, 1], dilation = [1, 1, 1], padding } = options;
  const taps = elementCount(kernel);
  let sum = 0;
  for (let tap = 0; tap < taps; tap++) {
    const k: Three = [
      Math.floor(tap / (kernel[1] * kernel[2])),
      Math.floor(tap / kernel[2]) % kernel[1],
      tap % kernel[2],
    ];
    const at = k.map(
      (offset, axis) =>
        (point[axis] ?? 0) * (stride[axis] ?? 1) + offset * (dilation[axis] ?? 1) - (padding?.[axis]?.[0] ?? 0),
    );
    if (at.some((place, axis) => place < 0 || place >= (size[axis] ?? 0))) continue;
    const [t = 0, h = 0, width = 0] = at;
    const from = ((t * size[1] + h) * size[2] + width) * channels;
    for (let c = 0; c < channels; c++) sum += floatOf(x, from + c) * floatOf(w, (o * channels + c) * taps + tap);
  }
  return sum;
}
