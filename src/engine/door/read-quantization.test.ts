import { describe, expect, it } from 'vitest';
import { readQuantization, readQuantizationConfig } from './read-quantization.js';

const nothing = { excludeTowers: [], excludeProjections: [], excludeLayers: [], wideFirstSteps: 0, wideLastSteps: 0 };

describe('readQuantization', () => {
  it('reads parts, layers and steps', () => {
    expect(readQuantization({})).toBeUndefined();
    expect(readQuantization({ format: 'none' })).toBeUndefined();
    expect(readQuantization({ format: 'fp8' })).toEqual({ format: 'fp8', ...nothing });
    expect(
      readQuantization({ format: 'fp8', exclude: ['und,down', '0, 35'], wideSteps: '1,2', keepWide: true }),
    ).toEqual({
      format: 'fp8',
      excludeTowers: ['und'],
      excludeProjections: ['down'],
      excludeLayers: [0, 35],
      wideFirstSteps: 1,
      wideLastSteps: 2,
      keepWide: true,
    });
  });

  it.each([
    [{ exclude: ['und'] }, 'say nothing without --quantization fp8'],
    [{ wideSteps: '1,1' }, 'say nothing without --quantization fp8'],
    [{ keepWide: true }, 'say nothing without --quantization fp8'],
    [{ format: 'nvfp4' }, '--quantization nvfp4 has no kernels here: four-bit products need'],
    [{ format: 'int8' }, '--quantization must be none or fp8, got int8'],
    [{ format: 'fp8', exclude: ['up'] }, '--quantization-exclude up is neither a layer'],
    [{ format: 'fp8', wideSteps: '1' }, '--quantization-wide-steps must be two whole numbers, as 1,2, got 1'],
    [{ format: 'fp8', keepWide: true }, '--keep-wide says nothing without steps that run wide'],
  ])('refuses %j', (words, message) => {
    expect(() => readQuantization(words)).toThrow(message);
  });
});

describe('readQuantizationConfig', () => {
  it('reads the JSON form, alone or by component', () => {
    expect(readQuantizationConfig({ method: 'fp8', activation_scheme: 'dynamic' })).toEqual({
      format: 'fp8',
      ...nothing,
    });
    const config = {
      method: 'fp8',
      ignored_layers: ['layers.3', 4, 'gen', 'qkv'],
      wide_steps: [2, 0],
      keep_wide: true,
    };
    const read = {
      format: 'fp8',
      excludeTowers: ['gen'],
      excludeProjections: ['qkv'],
      excludeLayers: [3, 4],
      wideFirstSteps: 2,
      wideLastSteps: 0,
      keepWide: true,
    };
    expect(readQuantizationConfig(config)).toEqual(read);
    expect(readQuantizationConfig({ transformer: config })).toEqual(read);
    expect(readQuantizationConfig({ method: 'none' })).toBeUndefined();
  });

  it.each([
    [{}, 'method must be fp8 or none'],
    [{ method: 'int8' }, 'method must be fp8 or none, got "int8"'],
    [{ method: 'fp8', activation_scheme: 'static' }, 'activation_scheme must be dynamic, got "static"'],
    [{ method: 'fp8', weight_block_size: [128, 128] }, 'weight_block_size is not known'],
    [{ method: 'fp8', ignored_layers: ['layers.0.mlp.down_proj'] }, 'ignored_layers layers.0.mlp.down_proj is neither'],
    [{ method: 'fp8', ignored_layers: 'und' }, 'ignored_layers must be a list'],
    [{ method: 'fp8', wide_steps: [1] }, 'wide_steps must be two whole numbers'],
    [{ method: 'fp8', wide_steps: [1, 0.5] }, 'wide_steps must be two whole numbers'],
    [{ method: 'fp8', keep_wide: 'yes' }, 'keep_wide must be true or false'],
    [{ transformer: { method: 'fp8' }, vae: {} }, 'transformer is not known'],
  ])('refuses %j', (config, message) => {
    expect(() => readQuantizationConfig(config)).toThrow(message);
  });
});
