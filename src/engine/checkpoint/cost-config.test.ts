import { describe, expect, it } from 'vitest';
import { elementCount } from '../../backend/index.js';
import { parseWanVaeConfig, weightCount } from '../../models/wan-vae/index.js';
import { openCheckpoint } from '../../weights/index.js';
import { readConfig } from '../config.js';
import { readCostConfig } from './cost-config.js';
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
      readCostConfig(checkpoint, { kind: 'gpu', dtype: 'bf16', isQuantized }).weightBytes / 2 ** 30;
    // Measured on an H200 by what a small picture left over.
    expect(gib(false)).toBeCloseTo(28.4, 0);
    expect(gib(true)).toBeCloseTo(15.4, 0);
    const { elementBytes, vaeBytesPerPixel } = readCostConfig(checkpoint, {
      kind: 'gpu',
      dtype: 'bf16',
      isQuantized: false,
    });
    expect(elementBytes).toBe(2);
    expect(readCostConfig(checkpoint).vaeBytesPerPixel).toBe(2 * vaeBytesPerPixel);
  });
});
