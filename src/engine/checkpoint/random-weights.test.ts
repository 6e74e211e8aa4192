import { describe, expect, it } from 'vitest';
import { openSyntheticCheckpoint } from '../../weights/index.js';
import { readConfig } from '../config.js';
import { openDevice } from '../loader.js';
import { loadNetworks } from './load-networks.js';
import { syntheticConfigs, syntheticNames } from './synthetic-configs.js';

/** A network of Nano's form and a fraction of its size. */
function smallConfigs() {
  const { transformer, vae } = syntheticConfigs('nano');
  const small = {
    hidden_size: 64,
    intermediate_size: 96,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 16,
    rope_axes_dim: [4, 2, 2],
    vocab_size: 50,
  };
  return {
    transformer: { ...(transformer as object), ...small },
    vae: { ...(vae as object), base_dim: 4, decoder_base_dim: 4 },
  };
}

describe('random weights', () => {
  it.each(syntheticNames)('of %s have configurations that the networks take', (name) => {
    expect(Object.keys(syntheticConfigs(name))).toEqual(['transformer', 'vae']);
  });

  it('fill a network on a device that cannot make them itself', async () => {
    const checkpoint = openSyntheticCheckpoint({ name: 'small', configs: smallConfigs(), folders: {} });
    const { backend: b } = await openDevice('cpu', { threads: 1, blas: readConfig({}).blas });
    const { networks, unread } = loadNetworks(checkpoint, b);
    expect(unread).toEqual([]);
    expect(networks.sound).toBeNull();
    const ids = b.upload({ shape: [2], dtype: 'i32', bytes: new Uint8Array(Int32Array.of(3, 49).buffer) });
    const { bytes } = await b.download(b.embed(networks.transformer.embedTokens, ids));
    const values = new Float32Array(bytes.slice().buffer);
    expect(values).toHaveLength(128);
    const power = values.reduce((sum, x) => sum + x * x, 0);
    expect(power).toBeGreaterThan(1);
    expect(power).toBeLessThan(4);
    await b[Symbol.asyncDispose]();
  });
});
