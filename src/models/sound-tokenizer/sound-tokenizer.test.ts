// The sound tokenizer on the golden case, its windows, and what it refuses.
import { beforeAll, describe, expect, it } from 'vitest';
import { createOracle } from '../../../test/backend/oracle.js';
import { goldenFolder, readCase } from '../../../test/golden/read-case.js';
import { relativeL2 } from '../../../test/golden/relative-l2.js';
import { type Tensor, uploadFloats } from '../../backend/index.js';

import { openCheckpoint, WeightError, type WeightReader } from '../../weights/index.js';
import { ConfigError } from '../parse-config.js';
import { decoderReach } from './decoder.js';
import {
  decodeSound,
  encodeSound,
  parseSoundTokenizerConfig,
  readSoundTokenizer,
  type SoundTokenizer,
} from './index.js';
import { prepareWaveform } from './spectrogram.js';

const b = createOracle();
const part = openCheckpoint(`${goldenFolder}/tiny-nano`).part('sound_tokenizer');
const json = Object(part.config);
const config = parseSoundTokenizerConfig(json, 'sound_tokenizer/config.json');
const golden = readCase('sound_tokenizer');
let reader: WeightReader;
let tokenizer: SoundTokenizer;

beforeAll(() => {
  reader = part.weights();
  tokenizer = readSoundTokenizer(b, reader, config);
});

/** A golden `[1, C, T]` as `[T, C]`. */
function rows(key: string): Tensor {
  return b.permute(uploadFloats(b, golden.floats(key), golden.shape(key).slice(1)), [1, 0]);
}

async function floats(x: Tensor): Promise<Float32Array> {
  return new Float32Array((await b.download(x)).bytes.slice().buffer);
}

describe('golden case', () => {
  it('reads every tensor of the checkpoint', () => {
    expect(reader.unread()).toEqual([]);
  });

  it('encodes', async () => {
    const latents = encodeSound(b, tokenizer, await floats(rows('waveform')));
    expect(latents.shape).toEqual([5, 8]);
    expect(relativeL2(await floats(latents), await floats(rows('latent')))).toBeLessThan(5e-5);
  });

  it('decodes', async () => {
    const waveform = await decodeSound(b, tokenizer, rows('latent'));
    expect(relativeL2(waveform, await floats(rows('decoded')))).toBeLessThan(5e-5);
  });
});

describe('windows', () => {
  const latents = uploadFloats(
    b,
    Float32Array.from({ length: 24 * 8 }, (_, i) => Math.sin(i * i)),
    [24, 8],
  );

  let whole: Float32Array;

  beforeAll(async () => {
    whole = await decodeSound(b, tokenizer, latents);
  });

  it('give the same samples bit for bit', async () => {
    expect(whole.length).toBe(24 * 1920 * 2);
    expect(await decodeSound(b, tokenizer, latents, { latentsPerWindow: 12 })).toEqual(whole);
  });

  it('overlap by all that a latent depends on, and little more', async () => {
    const reach = decoderReach(config);
    const changed = await floats(latents);
    changed[0] = (changed[0] as number) + 1;
    const after = await decodeSound(b, tokenizer, uploadFloats(b, changed, [24, 8]));
    const last = whole.findLastIndex((x, i) => x !== after[i]);
    const latent = Math.floor(last / (1920 * 2));
    expect(latent).toBeLessThanOrEqual(reach);
    expect(latent).toBeGreaterThanOrEqual(reach - 2);
  });

  it('of no latents are refused', async () => {
    await expect(decodeSound(b, tokenizer, latents, { latentsPerWindow: 0 })).rejects.toThrow('latentsPerWindow is 0');
  });
});

describe('samples', () => {
  it('stay in [-1, 1]', async () => {
    const loud = uploadFloats(b, new Float32Array(8).fill(40), [1, 8]);
    const waveform = await decodeSound(b, tokenizer, loud);
    expect(Math.max(...waveform.map(Math.abs))).toBe(1);
  });

  it('are brought to a peak of 0.95 and padded to whole latents, in the middle of the overhang', () => {
    const settings = { fft: 8, hop: 2, blocks: 1, levels: [], normaliseVolume: true };
    const prepared = prepareWaveform(settings, Float32Array.of(0.1, -0.2, 0.05), 1, 4);
    const wanted = [0, 0, 0, 0.475, -0.95, 0.2375, 0, 0, 0, 0];
    expect(prepared.length).toBe(wanted.length);
    for (const [i, x] of wanted.entries()) expect(prepared[i]).toBeCloseTo(x, 6);
  });

  it('of silence stay silent', () => {
    const settings = { fft: 8, hop: 2, blocks: 1, levels: [], normaliseVolume: true };
    expect([...prepareWaveform(settings, new Float32Array(4), 1, 4)].every((x) => x === 0)).toBe(true);
  });
});

describe('errors', () => {
  it.each([0, 3])('refuses a waveform of %i values', (length) => {
    expect(() => encodeSound(b, tokenizer, new Float32Array(length))).toThrow(`a waveform of ${length} values`);
  });

  it('says when there is no encoder', () => {
    const decoderOnly = parseSoundTokenizerConfig({ ...json, encoder_enabled: false }, 'x');
    const half = readSoundTokenizer(b, part.weights(), decoderOnly);
    expect(() => encodeSound(b, half, new Float32Array(2))).toThrow('no sound encoder');
  });

  it.each([
    [{ enc_type: 'wavelet' }, 'enc_type'],
    [{ causal: true }, 'causal'],
    [{ enc_strides: [4, 5] }, 'enc_c_mults is [1,2,2], expected as many values as enc_strides (2)'],
    [{ enc_hop_length: 8 }, 'enc_hop_length is 8, expected 16'],
    [{ hop_size: 960 }, 'hop_size is 960, expected 1920'],
    [{ stereo: false }, 'dec_out_channels is 2, expected 1'],
    [{ enc_latent_dim: 8 }, 'enc_latent_dim is 8, expected 16'],
    [{ enc_n_fft: 72 }, 'enc_n_fft is 72, expected a multiple of 2 * enc_hop_length = 32'],
  ])('refuses %j', (change, message) => {
    const parse = () => parseSoundTokenizerConfig({ ...json, ...change }, 'sound_tokenizer/config.json');
    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(message);
  });

  it('names a misshaped tensor', () => {
    const wider = { ...config, latentChannels: 9 };
    expect(() => readSoundTokenizer(b, part.weights(), wider)).toThrow(WeightError);
    expect(() => readSoundTokenizer(b, part.weights(), wider)).toThrow('encoder.layers.10.weight_g');
  });

  it('names a missing tensor', () => {
    const deeper = { ...config, decoder: [...config.decoder, { input: 4, output: 4, stride: 2 }] };
    expect(() => readSoundTokenizer(b, part.weights(), deeper)).toThrow(WeightError);
    expect(() => readSoundTokenizer(b, part.weights(), deeper)).toThrow('decoder.block.5.snake1.alpha');
  });
});

it('reports unknown keys', () => {
  expect(config.unknownKeys).toEqual([]);
  expect(parseSoundTokenizerConfig({ ...json, loudness: 1 }, 'x').unknownKeys).toEqual(['loudness']);
});
