import { describe, expect, it } from 'vitest';
import { readOffload, readOffloadConfig } from './read-offload.js';

it('flags name towers, the wider one wins', () => {
  expect(readOffload({})).toBeUndefined();
  expect(readOffload({ releaseText: true })).toEqual(['und']);
  expect(readOffload({ layerwise: true })).toEqual(['und', 'gen']);
  expect(readOffload({ layerwise: true, releaseText: true })).toEqual(['und', 'gen']);
});

describe('the JSON form', () => {
  it.each([
    [{ mode: 'layer', components: ['dit'] }, ['und', 'gen']],
    [{ mode: 'layer', components: ['text_encoder'] }, ['und']],
    [{ mode: 'layer', components: ['dit', 'text_encoder'] }, ['und', 'gen']],
    [{ mode: 'layer', components: [] }, undefined],
    [{ mode: 'module', components: ['dit', 'text_encoder'] }, ['und']],
    [{ mode: 'module', components: [] }, undefined],
    [
      {
        mode: 'layer',
        components: ['dit'],
        layer_options: { dit: { weight_transfer: 'rank-local', resident_layers: 0 } },
      },
      ['und', 'gen'],
    ],
  ])('%j moves %j', (config, towers) => {
    expect(readOffloadConfig(config)).toEqual(towers);
  });

  it.each([
    [{}, 'mode must be layer or module'],
    [{ mode: 'layer' }, 'components must be a list'],
    [{ mode: 'layer', components: ['vae'] }, 'the autoencoder stays on the device; --vae-use-tiling'],
    [{ mode: 'layer', components: ['unet'] }, 'components are dit and text_encoder, got unet'],
    [{ mode: 'module', components: ['dit'] }, 'only text_encoder is ever idle'],
    [{ mode: 'layer', components: ['dit'], pinned: true }, 'pinned is not known'],
    [{ mode: 'layer', components: ['dit'], layer_options: [] }, 'layer_options must be an object'],
    [
      { mode: 'layer', components: ['dit'], layer_options: { dit: { resident_layers: 20 } } },
      'layer_options.dit.resident_layers 20',
    ],
    [
      { mode: 'layer', components: ['dit'], layer_options: { dit: { weight_transfer: 'allgather' } } },
      'layer_options.dit.weight_transfer "allgather"',
    ],
  ])('refuses %j', (config, message) => {
    expect(() => readOffloadConfig(config)).toThrow(message);
  });
});
