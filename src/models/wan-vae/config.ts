// The video autoencoder's config, as its checkpoint states it, and the widths of its blocks. Source: spec, section 5.
import Type, { type Static } from 'typebox';
import { parseConfig } from '../parse-config.js';

const Positive = Type.Integer({ minimum: 1 });

const schema = Type.Object({
  base_dim: Positive,
  decoder_base_dim: Type.Optional(Type.Union([Positive, Type.Null()])),
  z_dim: Positive,
  dim_mult: Type.Array(Positive, { minItems: 1 }),
  num_res_blocks: Positive,
  temperal_downsample: Type.Array(Type.Boolean()),
  latents_mean: Type.Array(Type.Number()),
  latents_std: Type.Array(Type.Number({ exclusiveMinimum: 0 })),
  is_residual: Type.Literal(true),
  in_channels: Positive,
  out_channels: Positive,
  patch_size: Positive,
  scale_factor_temporal: Positive,
  scale_factor_spatial: Positive,
  attn_scales: Type.Optional(Type.Array(Type.Number(), { maxItems: 0 })),
  dropout: Type.Optional(Type.Number()),
  clip_output: Type.Optional(Type.Boolean()),
});

/** One level of the encoder or decoder. */
export interface BlockConfig {
  readonly input: number; // channels
  readonly output: number; // channels
  readonly resnets: number;
  /** What follows the residual blocks: a halving (encoder) or doubling (decoder) of space, or of space and time. */
  readonly resample: 'none' | 'space' | 'space-time';
}

/** The config of `vae/config.json`, in the network's words. */
export interface WanVaeConfig {
  readonly latentChannels: number; // z
  readonly patch: number;
  /** Pixels per latent in height and width. */
  readonly spatialFactor: number;
  /** Frames per latent, except that the first latent stands for one frame. */
  readonly temporalFactor: number;
  readonly encoder: readonly BlockConfig[];
  readonly decoder: readonly BlockConfig[];
  readonly latentsMean: readonly number[]; // [z]
  readonly latentsStd: readonly number[]; // [z]
  /** Keys this engine does not know, for a warning. */
  readonly unknownKeys: readonly string[];
}

/**
 * Parses and cross-checks `vae/config.json`.
 * @param source the file's path, for messages
 * @throws ConfigError naming key, value and what would fit
 */
export function parseWanVaeConfig(json: unknown, source: string): WanVaeConfig {
  const { value: c, unknownKeys, fail } = parseConfig<Static<typeof schema>>(schema, json, source);
  const levels = c.dim_mult.length;
  if (c.temperal_downsample.length !== levels - 1)
    fail('temperal_downsample', c.temperal_downsample, `${levels - 1} values, one less than dim_mult has`);
  const temporal = 2 ** c.temperal_downsample.filter(Boolean).length;
  if (c.scale_factor_temporal !== temporal)
    fail('scale_factor_temporal', c.scale_factor_temporal, `${temporal}, from temperal_downsample`);
  const spatial = c.patch_size * 2 ** (levels - 1);
  if (c.scale_factor_spatial !== spatial)
    fail('scale_factor_spatial', c.scale_factor_spatial, `${spatial}, from patch_size and dim_mult`);
  for (const key of ['in_channels', 'out_channels'] as const)
    if (c[key] !== 3 * c.patch_size ** 2) fail(key, c[key], `3 * patch_size^2 = ${3 * c.patch_size ** 2}`);
  for (const key of ['latents_mean', 'latents_std'] as const)
    if (c[key].length !== c.z_dim) fail(key, `${c[key].length} values`, `z_dim = ${c.z_dim} values`);

  const halved = c.temperal_downsample.map((time) => (time ? 'space-time' : 'space'));
  const encoder = pairs([1, ...c.dim_mult], c.base_dim).map(
    ([input, output], i): BlockConfig => ({ input, output, resnets: c.num_res_blocks, resample: halved[i] ?? 'none' }),
  );
  const doubled = halved.toReversed();
  const falling = c.dim_mult.toReversed();
  const decoder = pairs([falling[0] ?? 1, ...falling], c.decoder_base_dim ?? c.base_dim).map(
    ([input, output], i): BlockConfig => ({
      input,
      output,
      resnets: c.num_res_blocks + 1,
      resample: doubled[i] ?? 'none',
    }),
  );
  if (!encoder.every(canAverage)) fail('dim_mult', c.dim_mult, 'widths whose blocks can be averaged into the next');
  if (!decoder.every(canDuplicate)) fail('dim_mult', c.dim_mult, 'widths that stay or fall by a power of two upwards');
  return {
    latentChannels: c.z_dim,
    patch: c.patch_size,
    spatialFactor: spatial,
    temporalFactor: temporal,
    encoder,
    decoder,
    latentsMean: c.latents_mean,
    latentsStd: c.latents_std,
    unknownKeys,
  };
}

function pairs(multiples: readonly number[], base: number): [number, number][] {
  return multiples.slice(1).map((multiple, i) => [(multiples[i] ?? 1) * base, multiple * base]);
}

/** Points of time, height and width that a block's resampling makes of one, or one of. */
export function resampleFactor({ resample }: BlockConfig): number {
  return { none: 1, space: 4, 'space-time': 8 }[resample];
}

/** The average shortcut takes means of whole groups of channels. */
function canAverage(block: BlockConfig): boolean {
  return (block.input * resampleFactor(block)) % block.output === 0;
}

/** The duplicate shortcut repeats each channel into the last one, two or all of the doubled axes. */
function canDuplicate(block: BlockConfig): boolean {
  const repeats = (block.output * resampleFactor(block)) / block.input;
  return block.resample === 'none' || [1, 2, 4, 8].some((n) => n === repeats && n <= resampleFactor(block));
}

/** Latent frames of a clip. @throws RangeError when `frames` is not a multiple of the temporal factor plus one. */
export function latentFrames(config: WanVaeConfig, frames: number): number {
  const latents = (frames - 1) / config.temporalFactor + 1;
  if (!Number.isInteger(latents) || latents < 1) {
    const nearest = Math.max(0, Math.round((frames - 1) / config.temporalFactor)) * config.temporalFactor + 1;
    throw new RangeError(
      `a clip has ${frames} frames, the autoencoder takes ${config.temporalFactor}n + 1; use ${nearest}`,
    );
  }
  return latents;
}

/** Frames that latents decode to. */
export function pixelFrames(config: WanVaeConfig, latents: number): number {
  return (latents - 1) * config.temporalFactor + 1;
}
