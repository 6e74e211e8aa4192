// The two namings of the transformer's weights: the flat one, and the diffusers one that the network reads. Source: performance spec, A.9.

const attentionNames: Readonly<Record<string, string>> = {
  q_proj: 'to_q',
  k_proj: 'to_k',
  v_proj: 'to_v',
  o_proj: 'to_out',
  q_norm: 'norm_q',
  k_norm: 'norm_k',
  q_proj_moe_gen: 'add_q_proj',
  k_proj_moe_gen: 'add_k_proj',
  v_proj_moe_gen: 'add_v_proj',
  o_proj_moe_gen: 'to_add_out',
  q_norm_moe_gen: 'norm_added_q',
  k_norm_moe_gen: 'norm_added_k',
};

const modules: readonly (readonly [flat: string, diffusers: string])[] = [
  ['language_model.model.', ''],
  ['language_model.lm_head.', 'lm_head.'],
  ['vae2llm.', 'proj_in.'],
  ['llm2vae.', 'proj_out.'],
  ['sound2llm.', 'audio_proj_in.'],
  ['llm2sound.', 'audio_proj_out.'],
  ['sound_modality_embed', 'audio_modality_embed'],
  ['action2llm.', 'action_proj_in.'],
  ['llm2action.', 'action_proj_out.'],
  ['time_embedder.mlp.0.', 'time_embedder.linear_1.'],
  ['time_embedder.mlp.2.', 'time_embedder.linear_2.'],
];

const flatAttentionNames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(attentionNames).map(([flat, diffusers]) => [diffusers, flat]),
);

/**
 * The diffusers name of a flat one: `language_model.model.layers.3.self_attn.q_proj_moe_gen.weight` is `layers.3.self_attn.add_q_proj.weight`.
 * Names that are no flat ones come back unchanged. Works on tensor and module names alike.
 */
export function toDiffusersName(name: string): string {
  let renamed = name;
  for (const [flat, diffusers] of modules) {
    if (renamed.startsWith(flat)) {
      renamed = diffusers + renamed.slice(flat.length);
      break;
    }
  }
  return renamed.replace(/(?<=\.self_attn\.)[a-z]+_[a-z_]+(?=\.|$)/, (word) => attentionNames[word] ?? word);
}

/**
 * The flat name of a diffusers one: `layers.3.self_attn.add_q_proj.weight` is `language_model.model.layers.3.self_attn.q_proj_moe_gen.weight`.
 * Names that have no flat one come back unchanged.
 */
export function toFlatName(name: string): string {
  const isOfTowers = /^(layers|norm|norm_moe_gen|embed_tokens)\./.test(name);
  const [flat, diffusers] = modules.find((pair) => (pair[1] === '' ? isOfTowers : name.startsWith(pair[1]))) ?? [
    '',
    '',
  ];
  const moved = flat + name.slice(diffusers.length);
  return moved.replace(/(?<=\.self_attn\.)[a-z_]+(?=\.|$)/, (word) => flatAttentionNames[word] ?? word);
}
