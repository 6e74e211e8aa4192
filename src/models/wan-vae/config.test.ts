// What the config says of the published network, each contradiction it can hold, and the cost that follows from it.
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../parse-config.js';
import { decodeFlops, encodeFlops, latentFrames, parseWanVaeConfig, pixelFrames } from './index.js';

/** The published autoencoder; latent statistics do not matter here. */
const published = {
  _class_name: 'AutoencoderKLWan',
  attn_scales: [],
  base_dim: 160,
  decoder_base_dim: 256,
  dim_mult: [1, 2, 4, 4],
  dropout: 0,
  in_channels: 12,
  is_residual: true,
  latents_mean: Array<number>(48).fill(0),
  latents_std: Array<number>(48).fill(1),
  num_res_blocks: 2,
  out_channels: 12,
  patch_size: 2,
  scale_factor_spatial: 16,
  scale_factor_temporal: 4,
  temperal_downsample: [false, true, true],
  z_dim: 48,
};
const config = parseWanVaeConfig(published, 'vae/config.json');

describe('parseWanVaeConfig', () => {
  it('lays out the blocks', () => {
    expect(config.encoder.map(({ input, output, resample }) => [input, output, resample])).toEqual([
      [160, 160, 'space'],
      [160, 320, 'space-time'],
      [320, 640, 'space-time'],
      [640, 640, 'none'],
    ]);
    expect(config.decoder.map(({ input, output, resnets, resample }) => [input, output, resnets, resample])).toEqual([
      [1024, 1024, 3, 'space-time'],
      [1024, 1024, 3, 'space-time'],
      [1024, 512, 3, 'space'],
      [512, 256, 3, 'none'],
    ]);
  });

  it('reports unknown keys, except those of the library that wrote the file', () => {
    expect(parseWanVaeConfig({ ...published, tile_size: 3 }, 'x').unknownKeys).toEqual(['tile_size']);
    expect(config.unknownKeys).toEqual([]);
  });

  it.each([
    [{ is_residual: false }, 'is_residual'],
    [{ z_dim: 0 }, 'z_dim'],
    [{ latents_std: Array<number>(48).fill(0) }, 'latents_std'],
    [{ latents_mean: [0] }, 'latents_mean is "1 values", expected z_dim = 48 values'],
    [{ temperal_downsample: [true] }, 'temperal_downsample is [true], expected 3 values'],
    [{ scale_factor_temporal: 8 }, 'scale_factor_temporal is 8, expected 4'],
    [{ scale_factor_spatial: 8 }, 'scale_factor_spatial is 8, expected 16'],
    [{ in_channels: 3 }, 'in_channels is 3, expected 3 * patch_size^2 = 12'],
    [{ out_channels: 3 }, 'out_channels is 3, expected 3 * patch_size^2 = 12'],
    [{ dim_mult: [1, 3, 4, 4] }, 'dim_mult is [1,3,4,4]'],
    [{ dim_mult: [4, 2, 1, 1] }, 'dim_mult is [4,2,1,1]'],
  ])('refuses %j', (change, message) => {
    const parse = () => parseWanVaeConfig({ ...published, ...change }, 'vae/config.json');
    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(message);
  });
});

describe('frames', () => {
  it('stand four to a latent after the first', () => {
    expect([1, 5, 49, 189].map((frames) => latentFrames(config, frames))).toEqual([1, 2, 13, 48]);
    expect([1, 2, 13, 48].map((latents) => pixelFrames(config, latents))).toEqual([1, 5, 49, 189]);
  });

  it.each([0, 2, 48, 4.5])('are refused when they are %d', (frames) => {
    expect(() => latentFrames(config, frames)).toThrow(`a clip has ${frames} frames`);
  });
});

describe('cost', () => {
  // Published estimates in units of 10^12 operations.
  it.each([
    [320, 192, 49, 56, 11],
    [832, 480, 49, 362, 69],
    [832, 480, 189, 1391, 264],
    [1280, 720, 189, 3210, 611],
    [1024, 1024, 1, 24, 5],
  ])('of %i x %i pixels, %i frames is %i to decode and %i to encode', (width, height, frames, decoding, encoding) => {
    const size = { width, height, frames };
    expect(Math.round(decodeFlops(config, size) / 1e12) / decoding).toBeCloseTo(1, 2);
    expect(Math.round(encodeFlops(config, size) / 1e12)).toBe(encoding);
  });
});
