// Numbers that compare what was made with what should be.
import type { RgbClip } from '../../../src/media/index.js';
import type { Mask } from './objects.js';

/** Peak signal to noise of a frame of one clip against a frame of another, dB; only pixels under `mask`, if given. */
export function psnr(a: RgbClip, frameA: number, b: RgbClip, frameB: number, mask?: Mask): number {
  const size = a.width * a.height * 3;
  let [sum, count] = [0, 0];
  for (let i = 0; i < size; i++) {
    if (mask !== undefined && mask.on[Math.floor(i / 3)] === 0) continue;
    sum += ((a.data[frameA * size + i] as number) - (b.data[frameB * size + i] as number)) ** 2;
    count++;
  }
  return sum === 0 ? 99 : 10 * Math.log10((255 ** 2 * count) / sum);
}

/** Intersection over union of two runs of masks, all frames together. */
export function overlap(a: readonly Mask[], b: readonly Mask[]): number {
  let [both, any] = [0, 0];
  for (const [frame, mask] of a.entries()) {
    const other = b[frame] as Mask;
    for (let i = 0; i < mask.on.length; i++) {
      const [p, q] = [mask.on[i] as number, other.on[i] as number];
      both += p & q;
      any += p | q;
    }
  }
  return any === 0 ? 1 : both / any;
}

/** Share of the variance of `wanted` that `found` explains; null where `wanted` hardly varies. */
export function explained(found: readonly number[], wanted: readonly number[]): number | null {
  const mean = wanted.reduce((sum, v) => sum + v, 0) / wanted.length;
  const spread = wanted.reduce((sum, v) => sum + (v - mean) ** 2, 0);
  const rest = wanted.reduce((sum, v, i) => sum + (v - (found[i] as number)) ** 2, 0);
  return spread / wanted.length < 1e-5 ? null : 1 - rest / spread;
}
