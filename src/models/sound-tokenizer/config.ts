// The sound tokenizer's config, as its checkpoint states it. Source: spec, section 6.
import Type, { type Static } from 'typebox';
import { parseConfig } from '../parse-config.js';

const Positive = Type.Integer({ minimum: 1 });
const Positives = Type.Array(Positive, { minItems: 1 });
const unused = Type.Optional(Type.Unknown());
const no = Type.Optional(Type.Literal(false));
const yes = Type.Optional(Type.Literal(true));

const schema = Type.Object({
  sampling_rate: Positive,
  stereo: Type.Boolean(),
  normalize_volume: Type.Boolean(),
  encoder_enabled: Type.Optional(Type.Boolean()),
  vocoder_input_dim: Positive,
  hop_size: Type.Optional(Type.Union([Positive, Type.Null()])),
  enc_type: Type.Literal('spec_convnext'),
  enc_dim: Positive,
  enc_c_mults: Positives,
  enc_strides: Positives,
  enc_num_blocks: Positive,
  enc_n_fft: Positive,
  enc_hop_length: Positive,
  enc_latent_dim: Positive,
  dec_type: Type.Literal('oobleck'),
  dec_dim: Positive,
  dec_c_mults: Positives,
  dec_strides: Positives,
  dec_out_channels: Positive,
  bottleneck_type: Type.Literal('vae'),
  activation: Type.Optional(Type.Literal('snakebeta')),
  padding_mode: Type.Optional(Type.Literal('zeros')),
  snake_logscale: yes,
  enc_use_snake: yes,
  dec_use_snake: yes,
  use_wav_as_input: yes,
  causal: no,
  anti_aliasing: no,
  dec_anti_aliasing: no,
  dec_final_tanh: no,
  dec_use_tanh_at_final: no,
  dec_use_nearest_upsample: no,
  latent_mean: Type.Optional(Type.Null()),
  latent_std: Type.Optional(Type.Null()),
  bottleneck: unused,
  enc_identity_init: unused,
  enc_intermediate_dim: unused,
  enc_num_layers: unused,
  input_channels: unused,
  model_type: unused,
  use_cuda_kernel: unused,
});

/** One level of the decoder, or one change of rate in the encoder. */
export interface RateConfig {
  readonly input: number; // channels
  readonly output: number; // channels
  readonly stride: number;
}

export interface SoundEncoderConfig {
  readonly fft: number;
  readonly hop: number;
  /** ConvNeXt blocks before each change of rate. */
  readonly blocks: number;
  readonly levels: readonly RateConfig[];
  readonly normaliseVolume: boolean;
}

/** The config of `sound_tokenizer/config.json`, in the network's words. */
export interface SoundTokenizerConfig {
  /** Samples per second and channel. */
  readonly sampleRate: number;
  readonly channels: number;
  readonly latentChannels: number;
  /** Samples per latent. */
  readonly hop: number;
  /** Absent from checkpoints that only make sound. */
  readonly encoder: SoundEncoderConfig | null;
  readonly decoder: readonly RateConfig[];
  /** Keys this engine does not know, for a warning. */
  readonly unknownKeys: readonly string[];
}

/**
 * Parses and cross-checks `sound_tokenizer/config.json`.
 * @param source the file's path, for messages
 * @throws ConfigError naming key, value and what would fit
 */
export function parseSoundTokenizerConfig(json: unknown, source: string): SoundTokenizerConfig {
  const { value: c, unknownKeys, fail } = parseConfig<Static<typeof schema>>(schema, json, source);
  for (const side of ['enc', 'dec'] as const)
    if (c[`${side}_c_mults`].length !== c[`${side}_strides`].length)
      fail(
        `${side}_c_mults`,
        c[`${side}_c_mults`],
        `as many values as ${side}_strides (${c[`${side}_strides`].length})`,
      );
  const hop = product(c.dec_strides);
  const channels = c.stereo ? 2 : 1;
  const checks: readonly [key: keyof typeof c, expected: number, why: string][] = [
    ['enc_hop_length', hop / product(c.enc_strides), 'the product of dec_strides by that of enc_strides'],
    ['hop_size', hop, 'the product of dec_strides'],
    ['dec_out_channels', channels, 'from stereo'],
    ['enc_latent_dim', 2 * c.vocoder_input_dim, 'means and scales of vocoder_input_dim channels'],
  ];
  for (const [key, expected, why] of checks)
    if ((c[key] ?? expected) !== expected) fail(key, c[key], `${expected}, ${why}`);
  if (c.enc_n_fft % (2 * c.enc_hop_length) !== 0)
    fail('enc_n_fft', c.enc_n_fft, `a multiple of 2 * enc_hop_length = ${2 * c.enc_hop_length}`);
  return {
    sampleRate: c.sampling_rate,
    channels,
    latentChannels: c.vocoder_input_dim,
    hop,
    encoder:
      c.encoder_enabled === false
        ? null
        : {
            fft: c.enc_n_fft,
            hop: c.enc_hop_length,
            blocks: c.enc_num_blocks,
            // The last change of rate keeps the width.
            levels: rates([...c.enc_c_mults, c.enc_c_mults.at(-1) ?? 1], c.enc_dim, c.enc_strides),
            normaliseVolume: c.normalize_volume,
          },
    decoder: rates([1, ...c.dec_c_mults].toReversed(), c.dec_dim, c.dec_strides.toReversed()),
    unknownKeys,
  };
}

function product(values: readonly number[]): number {
  return values.reduce((a, b) => a * b, 1);
}

function rates(multiples: readonly number[], width: number, strides: readonly number[]): RateConfig[] {
  return strides.map((stride, i) => ({
    input: (multiples[i] ?? 1) * width,
    output: (multiples[i + 1] ?? 1) * width,
    stride,
  }));
}
