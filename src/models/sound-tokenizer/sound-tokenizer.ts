// The sound tokenizer (AVAE): waveforms to 25 latents a second and back. Source: spec, section 6.
import type { Backend, Tensor } from '../../backend/index.js';
import { toFloat32, type WeightReader } from '../../weights/index.js';
import type { SoundTokenizerConfig } from './config.js';
import { decodeLatents, decoderReach, readSoundDecoder, type SoundDecoder } from './decoder.js';
import { encodeHops, readSoundEncoder, type SoundEncoder } from './encoder.js';
import { prepareWaveform } from './spectrogram.js';

export interface SoundTokenizer {
  readonly config: SoundTokenizerConfig;
  readonly encoder: SoundEncoder | null;
  readonly decoder: SoundDecoder;
}

/** Reads both halves, folding weight normalisation. @throws WeightError naming a missing or misshaped tensor. */
export function readSoundTokenizer(b: Backend, reader: WeightReader, config: SoundTokenizerConfig): SoundTokenizer {
  return {
    config,
    encoder: config.encoder && readSoundEncoder(b, reader, config, config.encoder),
    decoder: readSoundDecoder(b, reader, config),
  };
}

/**
 * Encodes a waveform to latents `[ceil(samples / hop), C_s]` (the means), after bringing its peak to 0.95.
 * @param waveform `[samples, channels]`, interleaved, at the config's sample rate
 * @throws RangeError when the waveform is empty or not whole samples, Error when the checkpoint has no encoder.
 */
export function encodeSound(b: Backend, { config, encoder }: SoundTokenizer, waveform: Float32Array): Tensor {
  if (!encoder)
    throw new Error('this checkpoint has no sound encoder (encoder_enabled is false); it can only make sound');
  if (waveform.length === 0 || waveform.length % config.channels !== 0)
    throw new RangeError(`a waveform of ${waveform.length} values; it must be samples of ${config.channels} channels`);
  return encodeHops(b, encoder, prepareWaveform(encoder.config, waveform, config.channels, config.hop));
}

export interface DecodeSoundOptions {
  /** Latents decoded at a time; more need more memory and give the same samples. Default 128, five seconds. */
  readonly latentsPerWindow?: number;
}

/**
 * Decodes `latents [T, C_s]` to a waveform `[T hop, channels]`, interleaved, clamped to [-1, 1].
 * Windows overlap by the decoder's reach, so they give the samples that the whole at once would give.
 */
export async function decodeSound(
  b: Backend,
  { config, decoder }: SoundTokenizer,
  latents: Tensor,
  { latentsPerWindow = 128 }: DecodeSoundOptions = {},
): Promise<Float32Array> {
  if (!Number.isInteger(latentsPerWindow) || latentsPerWindow < 1)
    throw new RangeError(`latentsPerWindow is ${latentsPerWindow}; it must be a whole number of at least 1`);
  const total = latents.shape[0] ?? 0;
  const reach = decoderReach(config);
  const waveform = new Float32Array(total * config.hop * config.channels);
  for (let start = 0; start < total; start += latentsPerWindow) {
    const end = Math.min(start + latentsPerWindow, total);
    const [from, to] = [Math.max(0, start - reach), Math.min(total, end + reach)];
    using samples = b.scope(() => {
      const window = decodeLatents(b, decoder, b.slice(latents, 0, from, to));
      return b.slice(window, 0, (start - from) * config.hop, (end - from) * config.hop);
    });
    const values = toFloat32(await b.download(samples));
    for (const [i, x] of values.entries())
      waveform[start * config.hop * config.channels + i] = Math.max(-1, Math.min(1, x));
  }
  return waveform;
}
