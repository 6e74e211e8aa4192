import { describe, expect, it } from 'vitest';
import { elementCount } from '../../backend/index.js';
import type { Tower } from '../../models/cosmos3-transformer/index.js';
import { parseWanVaeConfig, weightCount } from '../../models/wan-vae/index.js';
import { openCheckpoint } from '../../weights/index.js';
import { readConfig } from '../config.js';
import { memoryUse, readCostConfig } from './cost-config.js';
import { findDefaultCheckpoint } from './default-checkpoint.js';
import { openModel } from './open-model.js';

describe('readCostConfig', () => {
  it('counts the weights that the autoencoder has', () => {
    using checkpoint = openCheckpoint(findDefaultCheckpoint());
    const part = checkpoint.part('vae');
    const table = part.table();
    const shapes = table.names.map((name) => table.info(name)?.shape ?? []);
    const isKernel = (shape: readonly number[]) => shape.filter((size) => size > 1).length > 1;
    const stored = shapes.filter(isKernel).reduce((sum, shape) => sum + elementCount(shape), 0);
    expect(weightCount(parseWanVaeConfig(part.config, part.path))).toBe(stored);
  });

  it("knows Nano's weights on a GPU: 29 GiB in bfloat16, 16 with its linear layers in FP8", async () => {
    const { checkpoint, facts } = await openModel({ synthetic: 'nano' }, readConfig({}));
    expect(facts.id).toBe('synthetic-nano');
    const gib = (isQuantized: boolean) =>
      readCostConfig(checkpoint, memoryUse('cuda:0', isQuantized ? { quantization: { format: 'fp8' } } : {}))
        .weightBytes /
      2 ** 30;
    // Measured on an H200 by what a small picture left over.
    expect(gib(false)).toBeCloseTo(28.4, 0);
    expect(gib(true)).toBeCloseTo(15.4, 0);
    const { elementBytes, vaeBytesPerPixel } = readCostConfig(checkpoint, memoryUse('cuda:0'));
    expect(elementBytes).toBe(2);
    expect(readCostConfig(checkpoint).vaeBytesPerPixel).toBe(2 * vaeBytesPerPixel);
  });

  it('moves towers that are offloaded to the host, and leaves room for two of their layers', async () => {
    const { checkpoint } = await openModel({ synthetic: 'nano' }, readConfig({}));
    const of = (offload: readonly Tower[]) => readCostConfig(checkpoint, memoryUse('cuda:0', { offload }));
    // A layer of a tower: 6144 + 4096 rows of 4096, 2 x 12288 + 4096 (of 12288) in the feed-forward part, two bytes each; 36 of them.
    const layer = 2 * ((6144 + 4096) * 4096 + 3 * 12_288 * 4096);
    expect(layer).toBe(385_875_968);
    const all = of([]);
    expect(all.hostWeightBytes).toBe(0);
    expect(of(['und'])).toMatchObject({
      weightBytes: all.weightBytes - 34 * layer,
      hostWeightBytes: 13_891_534_848,
    });
    // Both towers share the room for two layers.
    expect(of(['und', 'gen'])).toMatchObject({
      weightBytes: all.weightBytes - 70 * layer,
      hostWeightBytes: 27_783_069_696,
    });
  });

  it('knows what the CPU has of all that: decoding by tiles', async () => {
    const { checkpoint } = await openModel({}, readConfig({}));
    const plain = readCostConfig(checkpoint, memoryUse('cpu'));
    const given = { offload: ['und'], quantization: { format: 'fp8' }, dtype: 'bf16', vaeTiling: true } as const;
    expect(readCostConfig(checkpoint, memoryUse('cpu', given))).toEqual({
      ...plain,
      tiling: { size: 512, stride: 464 },
    });
  });
});
