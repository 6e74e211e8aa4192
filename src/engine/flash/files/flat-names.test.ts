import { describe, expect, it } from 'vitest';
import { toDiffusersName, toFlatName } from '../../../weights/flat-names.js';
import { foldNames, isFlatName } from './flat-names.js';
import { neededTensors } from './transformer-shape.js';

const nano = { hidden: 4096, inner: 12288, heads: 32, kvHeads: 8, headDim: 128, patchDim: 192 };
const variant = { layers: 36, mlp: 'swiglu', textNorms: true, textKeyNormForGen: false } as const;
const needed = neededTensors(variant, nano);

describe('toFlatName', () => {
  it.each([
    ['layers.3.self_attn.to_q.weight', 'language_model.model.layers.3.self_attn.q_proj.weight'],
    ['layers.3.self_attn.to_out.weight', 'language_model.model.layers.3.self_attn.o_proj.weight'],
    ['layers.35.self_attn.to_add_out.weight', 'language_model.model.layers.35.self_attn.o_proj_moe_gen.weight'],
    ['layers.0.self_attn.norm_added_k.weight', 'language_model.model.layers.0.self_attn.k_norm_moe_gen.weight'],
    ['layers.0.mlp_moe_gen.gate_proj.weight', 'language_model.model.layers.0.mlp_moe_gen.gate_proj.weight'],
    [
      'layers.0.post_attention_layernorm_moe_gen.weight',
      'language_model.model.layers.0.post_attention_layernorm_moe_gen.weight',
    ],
    ['norm_moe_gen.weight', 'language_model.model.norm_moe_gen.weight'],
    ['proj_in.bias', 'vae2llm.bias'],
    ['proj_out.weight', 'llm2vae.weight'],
  ])('%s', (name, flat) => {
    expect(toFlatName(name)).toBe(flat);
    expect(isFlatName(flat)).toBe(true);
    expect(isFlatName(name)).toBe(false);
  });

  it('is undone by the names that loading gives', () => {
    const others = [
      'embed_tokens.weight',
      'norm.weight',
      'lm_head.weight',
      'audio_proj_in.bias',
      'audio_modality_embed',
    ];
    const more = ['action_proj_out.fc.weight', 'action_modality_embed', 'time_embedder.linear_2.bias'];
    const edge = ['layers.1.self_attn.k_norm_und_for_gen.weight', 'layers.1.self_attn.to_q.weight_scale'];
    for (const name of [...needed.map(([own]) => own), ...others, ...more, ...edge])
      expect(toDiffusersName(toFlatName(name))).toBe(name);
  });
});

describe('neededTensors', () => {
  it('are 797 for 36 layers, 22 a layer, no two alike', () => {
    expect(needed).toHaveLength(797);
    expect(new Set(needed.map(([name]) => toFlatName(name))).size).toBe(797);
    expect(needed.filter(([name]) => name.startsWith('layers.7.'))).toHaveLength(22);
  });

  it('have the published shapes', () => {
    const shapes = new Map(needed);
    expect(shapes.get('proj_in.weight')).toEqual([4096, 192]);
    expect(shapes.get('layers.0.self_attn.add_k_proj.weight')).toEqual([1024, 4096]);
    expect(shapes.get('layers.0.mlp_moe_gen.down_proj.weight')).toEqual([4096, 12288]);
    const weights = needed.reduce((sum, [, shape]) => sum + shape.reduce((product, size) => product * size, 1), 0);
    // Two towers of 6.946 B, norms, and 1.58 M in and out.
    expect(weights / 1e9).toBeCloseTo(13.894, 2);
  });
});

describe('foldNames', () => {
  it('names every key, numbers in a row as ranges', () => {
    const names = [0, 1, 2, 5].map((i) => `layers.${i}.mlp.up_proj.weight`);
    expect(foldNames([...names, 'proj_in.bias'])).toBe('layers.{0-2,5}.mlp.up_proj.weight, proj_in.bias');
    expect(foldNames(['layers.4.mlp.up_proj.weight'])).toBe('layers.4.mlp.up_proj.weight');
    expect(foldNames(['s09/timestep_emb', 's10/timestep_emb', 'once/und_in'])).toBe(
      's{09-10}/timestep_emb, once/und_in',
    );
  });
});
