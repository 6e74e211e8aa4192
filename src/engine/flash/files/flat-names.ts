// The flat naming of the transformer's weights, from the diffusers naming: the inverse of what loading does.

const attentionNames: Readonly<Record<string, string>> = {
  to_q: 'q_proj',
  to_k: 'k_proj',
  to_v: 'v_proj',
  to_out: 'o_proj',
  norm_q: 'q_norm',
  norm_k: 'k_norm',
  add_q_proj: 'q_proj_moe_gen',
  add_k_proj: 'k_proj_moe_gen',
  add_v_proj: 'v_proj_moe_gen',
  to_add_out: 'o_proj_moe_gen',
  norm_added_q: 'q_norm_moe_gen',
  norm_added_k: 'k_norm_moe_gen',
};

const modules: readonly (readonly [diffusers: string, flat: string])[] = [
  ['layers.', 'language_model.model.layers.'],
  ['norm.', 'language_model.model.norm.'],
  ['norm_moe_gen.', 'language_model.model.norm_moe_gen.'],
  ['embed_tokens.', 'language_model.model.embed_tokens.'],
  ['lm_head.', 'language_model.lm_head.'],
  ['proj_in.', 'vae2llm.'],
  ['proj_out.', 'llm2vae.'],
  ['audio_proj_in.', 'sound2llm.'],
  ['audio_proj_out.', 'llm2sound.'],
  ['audio_modality_embed', 'sound_modality_embed'],
  ['action_proj_in.', 'action2llm.'],
  ['action_proj_out.', 'llm2action.'],
  ['time_embedder.linear_1.', 'time_embedder.mlp.0.'],
  ['time_embedder.linear_2.', 'time_embedder.mlp.2.'],
];

/** `layers.3.self_attn.add_q_proj.weight` is `language_model.model.layers.3.self_attn.q_proj_moe_gen.weight`. Source: performance spec, A.9. */
export function toFlatName(name: string): string {
  const [from, to] = modules.find(([diffusers]) => name.startsWith(diffusers)) ?? ['', ''];
  const moved = to + name.slice(from.length);
  return moved.replace(/(?<=\.self_attn\.)[a-z_]+(?=\.|$)/, (word) => attentionNames[word] ?? word);
}

/** Whether a tensor's name is of the flat naming and not of the other. */
export function isFlatName(name: string): boolean {
  return /^(language_model|vae2llm|llm2vae)\./.test(name);
}

/**
 * Names as people read them, none left out: those that differ in one number alone become one, `layers.{0-3,5}.mlp`.
 */
export function foldNames(names: readonly string[]): string {
  const groups = new Map<string, number[]>();
  const template = /(?<=layers\.|^s)\d+(?=[./])/;
  for (const name of names) {
    const number = template.exec(name)?.[0];
    const key = number === undefined ? name : name.replace(template, '\0');
    const numbers = groups.get(key) ?? [];
    if (number !== undefined) numbers.push(Number(number));
    groups.set(key, numbers);
  }
  return [...groups].map(([key, numbers]) => key.replace('\0', () => foldNumbers(key, numbers))).join(', ');
}

function foldNumbers(key: string, numbers: readonly number[]): string {
  const show = (number: number) => (key.startsWith('s') ? String(number).padStart(2, '0') : String(number));
  const ranges: [number, number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  const text = ranges.map(([from, to]) => (from === to ? show(from) : `${show(from)}-${show(to)}`)).join(',');
  return numbers.length === 1 ? text : `{${text}}`;
}
