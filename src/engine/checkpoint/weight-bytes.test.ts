import { describe, expect, it } from 'vitest';
import { parseTransformerConfig, type Quantization } from '../../models/cosmos3-transformer/index.js';
import { syntheticConfigs } from './synthetic-configs.js';
import { layerBytes } from './weight-bytes.js';

const config = parseTransformerConfig(syntheticConfigs('nano').transformer ?? {}, 'config.json');
const bytes = (quantization: Quantization | null, more: Partial<Parameters<typeof layerBytes>[1]> = {}) =>
  layerBytes(config, { dtype: 'bf16', quantization, offload: [], ...more });

// Rows x columns of Nano's merged matrices.
const [qkv, out, gateUp, down] = [6144 * 4096, 4096 * 4096, 24_576 * 4096, 4096 * 12_288] as const;
const layer = qkv + out + gateUp + down;
const rows = 6144 + 4096 + 24_576 + 4096;

describe('layerBytes', () => {
  it('counts two towers of 36 layers, a byte an element in FP8 and four a row', () => {
    expect(layer).toBe(192_937_984);
    expect(bytes(null)).toEqual({ device: 72 * 2 * layer, host: 0 });
    expect(bytes(null, { dtype: 'f32' })).toEqual({ device: 72 * 4 * layer, host: 0 });
    expect(bytes({ format: 'fp8' })).toEqual({ device: 72 * (layer + 4 * rows), host: 0 });
  });

  it('leaves out what is excluded by tower, projection or layer', () => {
    const quantized = layer + 4 * rows;
    expect(bytes({ format: 'fp8', excludeTowers: ['und'] }).device).toBe(36 * 2 * layer + 36 * quantized);
    expect(bytes({ format: 'fp8', excludeLayers: [0, 35] }).device).toBe(4 * 2 * layer + 68 * quantized);
    expect(bytes({ format: 'fp8', excludeProjections: ['down'] }).device).toBe(
      72 * (quantized - (down + 4 * 4096) + 2 * down),
    );
  });

  it('keeps wide weights of the generation tower beside the others where steps run wide', () => {
    const wide = { format: 'fp8', keepWide: true, wideFirstSteps: 1 } as const;
    expect(bytes(wide).device).toBe(72 * (layer + 4 * rows) + 36 * 2 * layer);
    expect(bytes({ ...wide, wideFirstSteps: 0 }).device).toBe(72 * (layer + 4 * rows));
  });

  it('of offloaded towers has room for two of the largest layers on the device, all in the host', () => {
    expect(bytes(null, { offload: ['und'] })).toEqual({ device: (36 + 2) * 2 * layer, host: 36 * 2 * layer });
    expect(bytes(null, { offload: ['und', 'gen'] })).toEqual({ device: 2 * 2 * layer, host: 72 * 2 * layer });
    const mixed = { format: 'fp8', excludeLayers: [7] } as const;
    expect(bytes(mixed, { offload: ['und', 'gen'] })).toEqual({
      device: 2 * 2 * layer,
      host: 70 * (layer + 4 * rows) + 2 * 2 * layer,
    });
  });
});
