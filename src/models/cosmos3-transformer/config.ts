// The transformer's config, as its checkpoint states it. Source: spec, section 1.
import Type, { type Static } from 'typebox';
import { parseConfig } from '../parse-config.js';

const Positive = Type.Integer({ minimum: 1 });

const schema = Type.Object({
  hidden_size: Positive,
  intermediate_size: Positive,
  num_hidden_layers: Positive,
  num_attention_heads: Positive,
  num_key_value_heads: Positive,
  head_dim: Positive,
  hidden_act: Type.Union([Type.Literal('silu'), Type.Literal('relu2')]),
  rms_norm_eps: Type.Number({ exclusiveMinimum: 0 }),
  vocab_size: Positive,
  latent_channel: Positive,
  latent_patch_size: Positive,
  patch_latent_dim: Positive,
  rope_theta: Type.Number({ exclusiveMinimum: 1 }),
  rope_axes_dim: Type.Tuple([Type.Integer({ minimum: 0 }), Type.Integer({ minimum: 0 }), Type.Integer({ minimum: 0 })]),
  base_fps: Type.Number({ exclusiveMinimum: 0 }),
  timestep_scale: Type.Number({ exclusiveMinimum: 0 }),
  enable_fps_modulation: Type.Boolean(),
  unified_3d_mrope_temporal_modality_margin: Type.Number({ minimum: 0 }),
  unified_3d_mrope_reset_spatial_ids: Type.Optional(Type.Literal(true)),
  qk_norm_for_text: Type.Optional(Type.Boolean()),
  use_und_k_norm_for_gen: Type.Optional(Type.Boolean()),
  sound_gen: Type.Optional(Type.Boolean()),
  sound_dim: Type.Optional(Type.Union([Positive, Type.Null()])),
  sound_latent_fps: Type.Optional(Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()])),
  action_gen: Type.Optional(Type.Boolean()),
  action_dim: Type.Optional(Type.Union([Positive, Type.Null()])),
  num_embodiment_domains: Type.Optional(Type.Union([Positive, Type.Null()])),
  attention_bias: Type.Optional(Type.Literal(false)),
  attention_dropout: Type.Optional(Type.Number()),
  rope_scaling: Type.Optional(Type.Unknown()),
});

/** The config of `transformer/config.json`, in the network's words. */
export interface TransformerConfig {
  readonly hidden: number;
  readonly inner: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly mlp: 'swiglu' | 'relu2';
  readonly eps: number;
  readonly vocabulary: number;
  readonly latentChannels: number;
  readonly patch: number;
  readonly ropeTheta: number;
  readonly ropeAxes: readonly [number, number, number];
  readonly baseFps: number;
  readonly timestepScale: number;
  readonly fpsModulation: boolean;
  /** Distance on the time axis between the last text token and the first generated row. */
  readonly modalityMargin: number;
  readonly textNorms: boolean;
  readonly textKeyNormForGen: boolean;
  readonly sound: { readonly channels: number; readonly fps: number } | null;
  readonly action: { readonly dim: number; readonly domains: number } | null;
  /** Keys this engine does not know, for a warning. */
  readonly unknownKeys: readonly string[];
}

/**
 * Parses and cross-checks `transformer/config.json`.
 * @param source the file's path, for messages
 * @throws ConfigError naming key, value and what would fit
 */
export function parseTransformerConfig(json: unknown, source: string): TransformerConfig {
  const { value: c, unknownKeys, fail } = parseConfig<Static<typeof schema>>(schema, json, source);
  if (c.num_attention_heads % c.num_key_value_heads !== 0)
    fail('num_key_value_heads', c.num_key_value_heads, `a divisor of num_attention_heads (${c.num_attention_heads})`);
  if (c.head_dim % 2 !== 0) fail('head_dim', c.head_dim, 'an even number');
  const patchDim = c.latent_patch_size ** 2 * c.latent_channel;
  if (c.patch_latent_dim !== patchDim)
    fail('patch_latent_dim', c.patch_latent_dim, `latent_patch_size^2 * latent_channel = ${patchDim}`);
  const axes = c.rope_axes_dim.reduce((sum, size) => sum + size, 0);
  if (axes !== c.head_dim / 2)
    fail('rope_axes_dim', c.rope_axes_dim, `three numbers that sum to head_dim / 2 = ${c.head_dim / 2}`);
  return {
    hidden: c.hidden_size,
    inner: c.intermediate_size,
    layers: c.num_hidden_layers,
    heads: c.num_attention_heads,
    kvHeads: c.num_key_value_heads,
    headDim: c.head_dim,
    mlp: c.hidden_act === 'silu' ? 'swiglu' : 'relu2',
    eps: c.rms_norm_eps,
    vocabulary: c.vocab_size,
    latentChannels: c.latent_channel,
    patch: c.latent_patch_size,
    ropeTheta: c.rope_theta,
    ropeAxes: c.rope_axes_dim,
    baseFps: c.base_fps,
    timestepScale: c.timestep_scale,
    fpsModulation: c.enable_fps_modulation,
    modalityMargin: c.unified_3d_mrope_temporal_modality_margin,
    textNorms: c.qk_norm_for_text ?? true,
    textKeyNormForGen: c.use_und_k_norm_for_gen ?? false,
    sound: c.sound_gen && c.sound_dim ? { channels: c.sound_dim, fps: c.sound_latent_fps ?? 25 } : null,
    action: c.action_gen && c.action_dim ? { dim: c.action_dim, domains: c.num_embodiment_domains ?? 32 } : null,
    unknownKeys,
  };
}
