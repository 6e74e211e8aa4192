// Configurations of full-size networks, for random weights of their size. Nano's are the published ones. The sizes of Edge and Super
// are stand-ins: a 2-billion and a 32-billion tower of the same form.

export const syntheticNames = ['nano', 'edge', 'super'] as const;
export type SyntheticName = (typeof syntheticNames)[number];

const nano = {
  hidden_size: 4096,
  intermediate_size: 12288,
  num_hidden_layers: 36,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  head_dim: 128,
  hidden_act: 'silu',
  rms_norm_eps: 1e-6,
  vocab_size: 151936,
  latent_channel: 48,
  latent_patch_size: 2,
  patch_latent_dim: 192,
  rope_theta: 5e6,
  rope_axes_dim: [24, 20, 20],
  base_fps: 24,
  timestep_scale: 0.001,
  enable_fps_modulation: true,
  unified_3d_mrope_temporal_modality_margin: 15000,
  qk_norm_for_text: true,
  use_und_k_norm_for_gen: false,
  // No sound tokenizer of that size is described here, so the network has no sound head.
  sound_gen: false,
  action_gen: true,
  action_dim: 64,
  num_embodiment_domains: 32,
} as const;

const transformers: Readonly<Record<SyntheticName, object>> = {
  nano,
  super: { ...nano, hidden_size: 5120, intermediate_size: 25600, num_hidden_layers: 64, num_attention_heads: 64 },
  edge: {
    ...nano,
    hidden_size: 2048,
    intermediate_size: 9216,
    num_hidden_layers: 28,
    num_attention_heads: 16,
    hidden_act: 'relu2',
    qk_norm_for_text: false,
    use_und_k_norm_for_gen: true,
    rms_norm_eps: 1e-5,
    rope_theta: 1e8,
  },
};

const latentChannels = 48;

/** The published video autoencoder; its latent statistics are left at zero and one. */
const vae = {
  base_dim: 160,
  decoder_base_dim: 256,
  z_dim: latentChannels,
  dim_mult: [1, 2, 4, 4],
  num_res_blocks: 2,
  temperal_downsample: [false, true, true],
  is_residual: true,
  in_channels: 12,
  out_channels: 12,
  patch_size: 2,
  scale_factor_temporal: 4,
  scale_factor_spatial: 16,
  latents_mean: Array.from({ length: latentChannels }, () => 0),
  latents_std: Array.from({ length: latentChannels }, () => 1),
} as const;

/** Configurations by part. */
export function syntheticConfigs(name: SyntheticName): Readonly<Record<string, unknown>> {
  return { transformer: transformers[name], vae };
}
