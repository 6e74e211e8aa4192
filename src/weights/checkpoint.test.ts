// Opening checkpoints: the golden ones, sharded and flat ones made from them, and broken ones.
import { cpSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCheckpoint } from './checkpoint.js';
import { CheckpointError, WeightError } from './errors.js';
import { toDiffusersName } from './flat-names.js';
import { decodeFloat32, fromFloat32, toFloat32 } from './floats.js';
import { type FileTensor, openSafetensors } from './safetensors/open-safetensors.js';
import { type WritableTensor, writeSafetensors } from './safetensors/write-safetensors.js';

const golden = fileURLToPath(new URL('../../test/golden/data/', import.meta.url));
const nano = join(golden, 'tiny-nano');
const weightFile = 'diffusion_pytorch_model.safetensors';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-checkpoint-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function copyNano(name: string): string {
  const path = join(folder, name);
  cpSync(nano, path, { recursive: true });
  return path;
}

function writable(tensor: FileTensor, name = tensor.name): WritableTensor {
  if (tensor.dtype === undefined) throw new TypeError(tensor.fileDtype);
  return { name, dtype: tensor.dtype, shape: tensor.shape, bytes: () => tensor.bytes() };
}

/** Splits a part's weights over two files under an index, names alternating. */
async function shard(part: string, edit?: (map: Record<string, string>) => void): Promise<void> {
  using file = openSafetensors(join(part, weightFile));
  const shards = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'] as const;
  const map: Record<string, string> = {};
  const tensors = [...file.tensors.values()];
  tensors.forEach(({ name }, i) => {
    map[name] = shards[(i % 2) as 0 | 1];
  });
  for (const shard of shards) {
    await writeSafetensors(
      join(part, shard),
      tensors.filter(({ name }) => map[name] === shard).map((t) => writable(t)),
    );
  }
  rmSync(join(part, weightFile));
  edit?.(map);
  writeFileSync(join(part, `${weightFile}.index.json`), JSON.stringify({ metadata: {}, weight_map: map }));
}

// The rule of the flat format, turned round from its table: modules first, then the words of the attention.
function toFlatName(name: string): string {
  const words: Record<string, string> = {
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
  const heads: Record<string, string> = {
    proj_in: 'vae2llm',
    proj_out: 'llm2vae',
    audio_proj_in: 'sound2llm',
    audio_proj_out: 'llm2sound',
    audio_modality_embed: 'sound_modality_embed',
    action_proj_in: 'action2llm',
    action_proj_out: 'llm2action',
    lm_head: 'language_model.lm_head',
  };
  const parts = name.split('.').map((word) => words[word] ?? word);
  const [head = ''] = parts;
  if (['layers', 'norm', 'norm_moe_gen', 'embed_tokens'].includes(head))
    return `language_model.model.${parts.join('.')}`;
  if (head === 'time_embedder') return name.replace('linear_1', 'mlp.0').replace('linear_2', 'mlp.2');
  return [heads[head] ?? head, ...parts.slice(1)].join('.');
}

describe('the golden checkpoints', () => {
  it('opens tiny-nano whole', () => {
    using checkpoint = openCheckpoint(nano);
    expect(checkpoint.index).toMatchObject({
      className: 'Cosmos3OmniPipeline',
      defaultUseSystemPrompt: true,
      useNativeFlowSchedule: false,
      enableSafetyChecker: false,
      isDistilled: false,
      distilledSigmas: undefined,
      orreryDefaults: undefined,
    });
    expect(checkpoint.partNames).toEqual(['scheduler', 'sound_tokenizer', 'text_tokenizer', 'transformer', 'vae']);
    expect(checkpoint.part('transformer').config).toMatchObject({ hidden_size: 64, rope_axes_dim: [4, 2, 2] });
    expect(checkpoint.part('scheduler').config).toMatchObject({ flow_shift: 10 });
    expect(checkpoint.part('scheduler').weightFiles()).toEqual([]);
    expect(checkpoint.part('vae').weightFiles()).toEqual([{ path: join(nano, 'vae', weightFile), size: 2635696 }]);
    expect(checkpoint.part('text_tokenizer').file('tokenizer.json')).toBe(
      join(nano, 'text_tokenizer', 'tokenizer.json'),
    );
    expect(() => checkpoint.part('text_tokenizer').file('vocab.txt')).toThrow(/text_tokenizer has no vocab.txt/);
    expect(checkpoint.part('vae')).toBe(checkpoint.part('vae'));
  });

  it('takes parts from elsewhere', () => {
    using checkpoint = openCheckpoint(join(golden, 'tiny-edge'), { parts: { vae: join(nano, 'vae') } });
    expect(checkpoint.has('vae')).toBe(true);
    expect(checkpoint.part('vae').weights().read('quant_conv.bias', [16]).shape).toEqual([16]);
    expect(checkpoint.has('sound_tokenizer')).toBe(false);
    expect(() => checkpoint.part('sound_tokenizer')).toThrow(
      /part sound_tokenizer, named by model_index.json, is missing; download it with orrery pull --include 'sound_tokenizer\/\*'/,
    );
    expect(() => checkpoint.part('upscaler')).toThrow(/part upscaler is not in this checkpoint.*this one: /);
  });
});

describe('readers', () => {
  it('checks names and shapes, and reports what nobody read', () => {
    using checkpoint = openCheckpoint(nano);
    const reader = checkpoint.part('transformer').weights();
    const total = reader.unread().length;
    const layer = reader.scope('layers.1');
    const attention = layer.scope('self_attn');
    const weight = attention.read('to_k.weight', [32, 64]);
    expect(weight).toMatchObject({ name: 'layers.1.self_attn.to_k.weight', dtype: 'f32', shape: [32, 64] });
    expect(weight.bytes).toHaveLength(32 * 64 * 4);
    expect(weight.bytes).toBe(weight.bytes);
    expect(weight.address).toBeTypeOf('bigint');
    expect(attention.has('k_norm_und_for_gen.weight')).toBe(false);
    expect(attention.optional('k_norm_und_for_gen.weight', [16])).toBeUndefined();
    expect(attention.optional('norm_k.weight', [16])?.shape).toEqual([16]);
    expect(reader.unread()).toHaveLength(total - 2);
    expect(reader.unread()).not.toContain('layers.1.self_attn.to_k.weight');
    expect(layer.unread().every((name) => name.startsWith('layers.1.'))).toBe(true);
    expect(() => attention.read('to_k.weight', [64, 32])).toThrow(
      `weight layers.1.self_attn.to_k.weight: expected shape [64, 32], found [32, 64] in ${join(nano, 'transformer', weightFile)}`,
    );
    expect(() => attention.optional('norm_k.weight', [17])).toThrow(WeightError);
    expect(() => layer.read('mlp.gate.weight', [1])).toThrow(
      /expected shape \[1\], found no such tensor in .*transformer/,
    );
  });

  it('collects every misfit when asked to', () => {
    using checkpoint = openCheckpoint(nano);
    const reader = checkpoint.part('transformer').weights({ collect: true });
    reader.settle();
    expect(reader.read('absent', [2, 3]).bytes).toHaveLength(24);
    expect(() => reader.settle()).toThrow('weight absent: expected shape [2, 3], found no such tensor');
    reader.scope('proj_in').read('bias', [65]);
    reader.read('proj_in.weight', [64, 32]);
    expect(reader.missing().map(({ weight }) => weight)).toEqual(['absent', 'proj_in.bias']);
    expect(() => reader.settle()).toThrow(
      /weight absent, proj_in.bias: expected 2 weights .*absent \(shape \[2, 3\].*; proj_in.bias \(shape \[65\], found \[64\]/,
    );
  });

  it('attaches FP8 scales and counts them as read', async () => {
    const path = join(folder, 'fp8.safetensors');
    const scales = (values: number[], shape: number[], name: string): WritableTensor => ({
      name,
      dtype: 'bf16',
      shape,
      bytes: fromFloat32(new Float32Array(values), 'bf16'),
    });
    const codes = fromFloat32(new Float32Array([1, 2, 3, 4]), 'f8e4m3');
    const matrix = (name: string): WritableTensor => ({ name, dtype: 'f8e4m3', shape: [2, 2], bytes: codes });
    await writeSafetensors(
      path,
      [
        matrix('a.weight'),
        scales([0.5], [], 'a.weight_scale'),
        scales([9], [1], 'a.input_scale'),
        matrix('b.weight'),
        scales([2, 4], [2, 1], 'b.weight_scale'),
        matrix('c.weight'),
        matrix('d.weight'),
        scales([1, 1, 1], [3], 'd.weight_scale'),
      ],
      { config: '{"hidden_size": 2}' },
    );
    using checkpoint = openCheckpoint(path);
    expect(checkpoint.partNames).toEqual(['transformer']);
    expect(checkpoint.part('transformer').config).toEqual({ hidden_size: 2 });
    const reader = checkpoint.part('transformer').weights();
    const a = reader.read('a.weight', [2, 2]);
    expect(a.scale).toMatchObject({ name: 'a.weight_scale', dtype: 'f32', shape: [1] });
    expect([...toFloat32(a)]).toEqual([0.5, 1, 1.5, 2]);
    expect([...toFloat32(reader.read('b.weight', [2, 2]))]).toEqual([2, 4, 12, 16]);
    expect(reader.read('c.weight', [2, 2]).scale).toBeUndefined();
    expect(() => reader.read('d.weight', [2, 2])).toThrow(
      'weight d.weight_scale: expected F32 [1] or [2], found BF16 [3]',
    );
    expect(reader.unread()).toEqual(['d.weight_scale', 'd.weight']);
  });
});

describe('sharded weights', () => {
  it('read as the single file does', async () => {
    const path = copyNano('sharded');
    await shard(join(path, 'transformer'));
    using whole = openCheckpoint(nano);
    using sharded = openCheckpoint(path);
    const expected = whole.part('transformer').table();
    const table = sharded.part('transformer').table();
    expect([...table.names].sort()).toEqual([...expected.names].sort());
    for (const name of ['embed_tokens.weight', 'proj_out.bias', 'layers.2.mlp.up_proj.weight']) {
      expect(Buffer.from(table.load(name).bytes).equals(Buffer.from(expected.load(name).bytes))).toBe(true);
    }
    expect(sharded.part('transformer').weightFiles()).toHaveLength(2);
  });

  it.each([
    [
      'a missing shard',
      (part: string) => rmSync(join(part, 'model-00002-of-00002.safetensors')),
      /1 of 2 shards are missing: model-00002-of-00002.safetensors; download the part again/,
    ],
    [
      'a truncated shard',
      (part: string) => truncateSync(join(part, 'model-00001-of-00002.safetensors'), 500_000),
      /model-00001-of-00002.safetensors: truncated: its header describes \d+ bytes, it has 500000/,
    ],
    [
      'an index without weight_map',
      (part: string) => writeFileSync(join(part, `${weightFile}.index.json`), '{}'),
      /has no weight_map/,
    ],
    [
      'an index that is no JSON',
      (part: string) => writeFileSync(join(part, `${weightFile}.index.json`), '{'),
      /no valid JSON/,
    ],
    [
      'an index that leaves the folder',
      (part: string) =>
        writeFileSync(join(part, `${weightFile}.index.json`), '{"weight_map": {"a": "../x.safetensors"}}'),
      /weight_map gives a the file "..\/x.safetensors"/,
    ],
  ])('%s', async (name, damage, message) => {
    const path = copyNano(name.replaceAll(' ', '-'));
    await shard(join(path, 'transformer'));
    damage(join(path, 'transformer'));
    using checkpoint = openCheckpoint(path);
    expect(() => checkpoint.part('transformer').weights()).toThrow(message);
    expect(() => checkpoint.part('transformer').weights()).toThrow(CheckpointError);
  });

  it('an index that contradicts its shards', async () => {
    const swapped = copyNano('swapped');
    await shard(join(swapped, 'transformer'), (map) => {
      map['proj_in.bias'] =
        map['proj_in.bias'] === 'model-00001-of-00002.safetensors'
          ? 'model-00002-of-00002.safetensors'
          : 'model-00001-of-00002.safetensors';
    });
    using checkpoint = openCheckpoint(swapped);
    expect(() => checkpoint.part('transformer').weights()).toThrow(
      /puts proj_in.bias into model-0000\d-of-00002.safetensors, which does not have it/,
    );
    const forgotten = copyNano('forgotten');
    await shard(join(forgotten, 'transformer'), (map) => {
      delete map['proj_in.bias'];
    });
    using other = openCheckpoint(forgotten);
    expect(() => other.part('transformer').weights()).toThrow(/has tensors that it does not put there: proj_in.bias/);
  });
});

describe('the flat format', () => {
  it('reads as the diffusers naming does, from a folder and from a file alone', async () => {
    using whole = openCheckpoint(nano);
    const expected = whole.part('transformer').table();
    using file = openSafetensors(join(nano, 'transformer', weightFile));
    const flat = [...file.tensors.values()].map((tensor) => writable(tensor, toFlatName(tensor.name)));
    expect(flat.map(({ name }) => name)).toContain('language_model.model.layers.0.self_attn.q_norm_moe_gen.weight');
    const path = copyNano('flat');
    rmSync(join(path, 'transformer', weightFile));
    await writeSafetensors(join(path, 'transformer', 'model.safetensors'), flat);
    await writeSafetensors(join(path, 'flat.safetensors'), flat);
    for (const place of [path, join(path, 'flat.safetensors'), join(path, 'transformer', 'model.safetensors')]) {
      using checkpoint = openCheckpoint(place);
      const table = checkpoint.part('transformer').table();
      expect([...table.names].sort()).toEqual([...expected.names].sort());
      const bias = checkpoint.part('transformer').weights().read('time_embedder.linear_2.bias', [64]);
      expect(decodeFloat32(bias.bytes, 'f32')).toEqual(
        decodeFloat32(expected.load('time_embedder.linear_2.bias').bytes, 'f32'),
      );
      expect(checkpoint.part('transformer').config).toMatchObject({ hidden_size: 64 });
      expect(checkpoint.has('vae')).toBe(true);
    }
  });

  it('maps the names of the format', () => {
    const layer = 'language_model.model.layers.35.';
    expect(toDiffusersName(`${layer}self_attn.o_proj.weight`)).toBe('layers.35.self_attn.to_out.weight');
    expect(toDiffusersName(`${layer}self_attn.o_proj_moe_gen.weight`)).toBe('layers.35.self_attn.to_add_out.weight');
    expect(toDiffusersName(`${layer}mlp_moe_gen.gate_proj.weight`)).toBe('layers.35.mlp_moe_gen.gate_proj.weight');
    expect(toDiffusersName(`${layer}self_attn.k_norm_und_for_gen.weight`)).toBe(
      'layers.35.self_attn.k_norm_und_for_gen.weight',
    );
    expect(toDiffusersName('llm2vae.weight')).toBe('proj_out.weight');
    expect(toDiffusersName('time_embedder.mlp.0.bias')).toBe('time_embedder.linear_1.bias');
    expect(toDiffusersName('sound_modality_embed')).toBe('audio_modality_embed');
    expect(toDiffusersName('layers.0.self_attn.to_q.weight')).toBe('layers.0.self_attn.to_q.weight');
    expect(toDiffusersName(`${layer}self_attn.q_proj`)).toBe('layers.35.self_attn.to_q');
  });

  it('refuses one weight under two names, and a file without configuration', async () => {
    const path = join(folder, 'twice.safetensors');
    const bias = { dtype: 'f32' as const, shape: [1], bytes: new Uint8Array(4) };
    await writeSafetensors(path, [
      { ...bias, name: 'proj_in.bias' },
      { ...bias, name: 'vae2llm.bias' },
    ]);
    using checkpoint = openCheckpoint(path);
    expect(() => checkpoint.part('transformer').table()).toThrow(
      /proj_in.bias and vae2llm.bias are two names of one weight/,
    );
    await writeSafetensors(path, [{ ...bias, name: 'proj_in.bias' }]);
    using alone = openCheckpoint(path);
    expect(() => alone.part('transformer').config).toThrow(
      /no configuration for this transformer; put its config.json beside it/,
    );
  });
});

describe('broken checkpoints', () => {
  it('says what is not there', () => {
    expect(() => openCheckpoint(join(folder, 'nowhere'))).toThrow(
      /nowhere: no such file or folder; check the path, or give a repository id/,
    );
    expect(() => openCheckpoint(join(golden, 'cases'))).toThrow(/no checkpoint: it has no model_index.json/);
    const path = copyNano('bare');
    rmSync(join(path, 'vae', 'config.json'));
    rmSync(join(path, 'transformer', weightFile));
    using checkpoint = openCheckpoint(path);
    expect(() => checkpoint.part('vae')).toThrow(/part vae has none of config.json/);
    expect(() => checkpoint.part('transformer').weights()).toThrow(
      /no .safetensors file in it; download the part again/,
    );
  });

  it('refuses ambiguous weights', () => {
    const path = copyNano('ambiguous');
    const part = join(path, 'transformer');
    cpSync(join(part, weightFile), join(part, 'a.safetensors'));
    cpSync(join(part, weightFile), join(part, 'b.safetensors'));
    expect(openCheckpoint(path).part('transformer').table().names.length).toBeGreaterThan(80);
    rmSync(join(part, weightFile));
    expect(() => openCheckpoint(path).part('transformer').table()).toThrow(
      /several weight files \(a.safetensors, b.safetensors\)/,
    );
  });

  it('reads and checks the flags', () => {
    const path = join(folder, 'flags');
    mkdirSync(path);
    const write = (name: string, value: unknown) => writeFileSync(join(path, name), JSON.stringify(value));
    write('model_index.json', {
      orrery_defaults: { 'text-to-video': { steps: 8 } },
      vae: ['diffusers', 'X'],
      gone: [null, null],
    });
    write('modular_model_index.json', { is_distilled: true, distilled_sigmas: [1, 0.9375, 0.8333, 0.625] });
    const { index } = openCheckpoint(path);
    expect([...index.parts.keys()]).toEqual(['vae']);
    expect(index).toMatchObject({
      isDistilled: true,
      distilledSigmas: [1, 0.9375, 0.8333, 0.625],
      orreryDefaults: { 'text-to-video': { steps: 8 } },
      defaultUseSystemPrompt: undefined,
    });
    write('modular_model_index.json', { is_distilled: true, distilled_sigmas: [0.5, 0.7] });
    expect(() => openCheckpoint(path)).toThrow(/modular_model_index.json: distilled_sigmas is \[0.5,0.7\]/);
    write('modular_model_index.json', { is_distilled: 'yes' });
    expect(() => openCheckpoint(path)).toThrow(/is_distilled is "yes"; it must be true or false/);
    writeFileSync(join(path, 'model_index.json'), '[]');
    expect(() => openCheckpoint(path)).toThrow(/no JSON object/);
  });
});
