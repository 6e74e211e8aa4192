// Previews of the package's own checkpoint, against what it makes in the end.
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RgbImage, resizeBilinear } from '../../media/index.js';
import type { Preview } from '../../pipeline/preview/previewer.js';
import { readConfig } from '../config.js';
import { Orrery, type ProgressEvent } from '../index.js';
import type { JobPreview } from '../jobs/types.js';
import { encodePreview, PreviewEncoder, previewLimit } from './preview-encoder.js';

let orrery: Orrery;
beforeAll(async () => {
  orrery = await Orrery.load({ config: { ...readConfig({}), threads: 1, blas: 'off' } });
});
afterAll(async () => orrery[Symbol.asyncDispose]());

/** Peak signal-to-noise ratio in dB. */
function psnr(a: Uint8Array, b: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += ((a[i] ?? 0) - (b[i] ?? 0)) ** 2;
  return 10 * Math.log10(255 ** 2 / (sum / a.length));
}

async function pixelsOf({ bytes }: Pick<JobPreview, 'bytes'>): Promise<RgbImage> {
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data: new Uint8Array(data) };
}

async function run(request: object, everySteps: number) {
  // Only steps take time: every preview that the steps allow is paid for.
  let time = 0;
  const previewer = await orrery.openPreviewer({ everySteps, now: () => time });
  const events: ProgressEvent[] = [];
  const encoded: JobPreview[] = [];
  const encoder = new PreviewEncoder((preview) => encoded.push(preview));
  const frames: Uint8Array[] = [];
  const form = { prompt: 'A red ball rolls over green grass.', seed: 5, ...request };
  for await (const event of orrery.generate(form, { previewer })) {
    if (event.type === 'step') time += 10_000;
    if (event.type === 'preview') {
      encoder.add(event);
      await encoder.settle();
    }
    if (event.type === 'frames') {
      const size = event.width * event.height * 3;
      for (let i = 0; i < event.count; i++) frames.push(event.data.slice(i * size, (i + 1) * size));
    } else events.push(event);
  }
  const previews = events.filter((event): event is Preview => event.type === 'preview');
  return { previews, encoded, frames, events };
}

describe('previews', () => {
  test('grow from the noise into the result: a clip', { timeout: 60_000 }, async () => {
    const { encoded, frames } = await run({ width: 128, height: 96, frames: 9, steps: 9 }, 2);
    expect(encoded.map(({ step, steps, frame, final }) => [step, steps, frame, final])).toEqual([
      [2, 9, 4, false],
      [4, 9, 4, false],
      [6, 9, 4, false],
      [8, 9, 4, false],
      [9, 9, 4, true],
    ]);
    for (const { bytes, width, mediaType } of encoded) {
      expect(bytes.length).toBeLessThanOrEqual(previewLimit);
      expect([width <= 320, mediaType]).toEqual([true, 'image/webp']);
    }
    const result = { width: 128, height: 96, data: frames[4] ?? new Uint8Array() };
    const likeness = await Promise.all(
      encoded.map(async (preview) => {
        const image = await pixelsOf(preview);
        return psnr(resizeBilinear(image, 128, 96).data, result.data);
      }),
    );
    expect(likeness.at(-1)).toBeGreaterThan(25);
    // The linear map alone tells colours and places; sharp it never is.
    for (const early of likeness.slice(0, -1)) expect(early).toBeGreaterThan(14);
  });

  test('a picture', { timeout: 60_000 }, async () => {
    const { encoded, frames } = await run({ task: 'text-to-image', width: 640, height: 64, steps: 2 }, 1);
    expect(encoded.map(({ step, frame, width, height, final }) => [step, frame, width, height, final])).toEqual([
      [1, 0, 160, 16, false],
      [2, 0, 320, 32, true],
    ]);
    const result = resizeBilinear({ width: 640, height: 64, data: frames[0] ?? new Uint8Array() }, 320, 32);
    expect(psnr((await pixelsOf(encoded[1] ?? { bytes: new Uint8Array() })).data, result.data)).toBeGreaterThan(25);
  });

  test('cost less than 5 % of the time: none is made that the time before it does not pay for', async () => {
    let time = 0;
    const previewer = await orrery.openPreviewer({ everySteps: 1, now: () => time });
    const steps: number[] = [];
    const form = { prompt: 'A ball.', task: 'text-to-image', width: 64, height: 64, steps: 40, seed: 1 } as const;
    for await (const event of orrery.generate(form, { previewer })) {
      // Steps take 20 ms, previews 8 ms: 4 % allow one every 200 ms.
      if (event.type === 'step') time += 20;
      if (event.type !== 'preview') continue;
      previewer.cost = 8;
      if (!event.final) steps.push(event.step);
    }
    expect(steps.length).toBe(4);
    for (const [i, step] of steps.entries()) if (i > 0) expect(step - (steps[i - 1] ?? 0)).toBeGreaterThanOrEqual(10);
  });
});

test('a picture of noise is made to fit', async () => {
  const data = Uint8Array.from({ length: 320 * 320 * 3 }, (_, i) => (i * 7919 * (i % 97)) % 256);
  const { bytes, image } = await encodePreview({ width: 320, height: 320, data });
  expect(bytes.length).toBeLessThanOrEqual(previewLimit);
  expect(image.width).toBe(160);
  expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp', width: image.width });
});
