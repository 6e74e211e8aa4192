// What a step cache is told: distances of signals, and the filter of one of them against its definition.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uploadFloats } from '../../src/backend/index.js';
import { type CpuBackend, createCpuBackend } from '../../src/cpu/index.js';
import { ChangeMeter } from '../../src/pipeline/denoise/reuse/change-meter.js';
import { seaGains } from '../../src/pipeline/denoise/reuse/sea-filter.js';
import { toFloat32 } from '../../src/weights/index.js';

describe('ChangeMeter', () => {
  let b: CpuBackend;
  beforeAll(async () => {
    b = await createCpuBackend({ threads: 1 });
  });
  afterAll(() => b[Symbol.asyncDispose]());

  const step = () => b.zeros([1], 'i32');

  it('gives the relative L1 distance from the call before', async () => {
    const x = uploadFloats(b, Float32Array.of(1, -2, 3, -4), [2, 2]);
    using meter = new ChangeMeter(b, 'teacache', {
      step: step(),
      capacity: 3,
      latents: x,
      firstLayerInput: { shape: [2, 2], dtype: 'f32', compute: () => x },
    });
    expect(await meter.measure()).toBe(Number.POSITIVE_INFINITY);
    b.write(x, uploadFloats(b, Float32Array.of(1.5, -2, 3, -3), [2, 2]));
    expect(await meter.measure()).toBeCloseTo(1.5 / 10, 6);
    expect(await meter.measure()).toBe(0);
  });

  it('filters latents as two Fourier transforms with the gains between do', async () => {
    const [frames, rows, columns, channels] = [3, 4, 5, 2];
    const shape = [frames, rows, columns, channels];
    const count = frames * rows * columns * channels;
    const draw = (seed: number) => Float32Array.from({ length: count }, (_, i) => Math.sin(seed + 1.7 * i * i));
    const [first, second] = [draw(1), draw(2)];
    const latents = uploadFloats(b, first, shape);
    const counter = step();
    using meter = new ChangeMeter(b, 'seacache', {
      step: counter,
      capacity: 3,
      latents,
      firstLayerInput: { shape: [1], dtype: 'f32', compute: () => latents },
    });
    const sigmas = Float32Array.of(0.9, 0.6, 0.3);
    meter.prepare(sigmas, { power: 3 });
    await meter.measure();
    b.write(latents, uploadFloats(b, second, shape));
    b.write(counter, b.upload({ shape: [1], dtype: 'i32', bytes: new Uint8Array(Int32Array.of(1).buffer) }));
    const change = await meter.measure();
    const [before, now] = [filtered(first, shape, 0.9), filtered(second, shape, 0.6)];
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + Math.abs(value), 0);
    expect(change).toBeCloseTo(sum(now.map((value, i) => value - (before[i] as number))) / sum(before), 4);
    expect(toFloat32(await b.download(latents))).toEqual(second);
  });
});

/** The filter by the definition: cosines and sines over all three axes, for every channel. */
function filtered(x: Float32Array, shape: readonly number[], sigma: number): number[] {
  const [T = 1, H = 1, W = 1, C = 1] = shape;
  const gains = seaGains({ frames: T, rows: H, columns: W }, sigma, 3);
  const out = Array.from({ length: x.length }, () => 0);
  for (let c = 0; c < C; c++)
    for (let kt = 0; kt < T; kt++)
      for (let kh = 0; kh < H; kh++)
        for (let kw = 0; kw < W; kw++) {
          const gain = gains[(kw * H + kh) * T + kt] as number;
          const phase = (t: number, h: number, w: number) => 2 * Math.PI * ((kt * t) / T + (kh * h) / H + (kw * w) / W);
          let [re, im] = [0, 0];
          for (let t = 0; t < T; t++)
            for (let h = 0; h < H; h++)
              for (let w = 0; w < W; w++) {
                const value = x[((t * H + h) * W + w) * C + c] as number;
                re += value * Math.cos(phase(t, h, w));
                im -= value * Math.sin(phase(t, h, w));
              }
          for (let t = 0; t < T; t++)
            for (let h = 0; h < H; h++)
              for (let w = 0; w < W; w++) {
                const at = ((t * H + h) * W + w) * C + c;
                const back = re * Math.cos(phase(t, h, w)) - im * Math.sin(phase(t, h, w));
                out[at] = (out[at] as number) + (gain * back) / (T * H * W);
              }
        }
  return out;
}
