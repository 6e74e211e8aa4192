// LoRA: hand-computed merges, the namings in use, adapters that do not fit.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCheckpoint } from '../checkpoint.js';
import { type FloatDType, fromFloat32, toFloat32 } from '../floats.js';
import { openPartWeights } from '../part-weights.js';
import { createWeightReader } from '../reader.js';
import { type WritableTensor, writeSafetensors } from '../safetensors/write-safetensors.js';
import { mergeLora } from './merge-lora.js';
import { openLora } from './open-lora.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-lora-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function tensor(name: string, shape: number[], values: number[], dtype: FloatDType = 'f32'): WritableTensor {
  return { name, dtype, shape, bytes: fromFloat32(new Float32Array(values), dtype) };
}

let count = 0;
async function write(tensors: WritableTensor[], metadata?: Record<string, string>): Promise<string> {
  const path = join(folder, `${count++}.safetensors`);
  await writeSafetensors(path, tensors, metadata);
  return path;
}

const queries = 'layers.0.self_attn.to_q';
// A [2, 3], B [2, 2]: B A = [[1*1 + 2*0, 2, 3 + 2], [-1, -2 + 4*0, -3 + 0]] with the rows below.
const down = [1, 2, 3, 0, 0, 1];
const up = [1, 2, -1, 0];
const product = [1, 2, 5, -1, -2, -3];

async function base(dtype: FloatDType = 'f32') {
  const path = await write([
    tensor(`${queries}.weight`, [2, 3], [10, 20, 30, 40, 50, 60], dtype),
    ...(dtype === 'f8e4m3' ? [tensor(`${queries}.weight_scale`, [2], [2, 0.5])] : []),
    tensor('norm.weight', [2], [1, 2]),
  ]);
  return openPartWeights(path).table;
}

describe('mergeLora', () => {
  it.each([
    ['base_model.model.layers.0.self_attn.to_q', 'lora_A.weight', 'lora_B.weight'],
    ['transformer.layers.0.self_attn.to_q', 'lora_A.weight', 'lora_B.weight'],
    ['base_model.model.transformer.layers.0.self_attn.to_q', 'lora_A.default.weight', 'lora_B.default.weight'],
    ['language_model.model.layers.0.self_attn.q_proj', 'lora_down.weight', 'lora_up.weight'],
    ['net.language_model.model.layers.0.self_attn.q_proj', 'lora.down.weight', 'lora.up.weight'],
    ['lora_transformer_layers_0_self_attn_to_q', 'lora_down.weight', 'lora_up.weight'],
  ])('reads %s.%s', async (module, a, b) => {
    const adapter = openLora(
      await write([tensor(`${module}.${a}`, [2, 3], down), tensor(`${module}.${b}`, [2, 2], up)]),
    );
    const merged = mergeLora(await base(), adapter, 2);
    const expected = [10, 20, 30, 40, 50, 60].map((value, i) => value + 2 * (product[i] ?? 0));
    const reader = createWeightReader(merged);
    expect([...toFloat32(reader.read(`${queries}.weight`, [2, 3]))]).toEqual(expected);
    expect([...toFloat32(reader.read('norm.weight', [2]))]).toEqual([1, 2]);
    expect(reader.unread()).toEqual([]);
  });

  const factors = [tensor(`${queries}.lora_A.weight`, [2, 3], down), tensor(`${queries}.lora_B.weight`, [2, 2], up)];
  const firstValue = async (adapter: ReturnType<typeof openLora>) =>
    toFloat32(mergeLora(await base(), adapter).load(`${queries}.weight`))[0];

  it('takes alpha from a tensor, from peft, from diffusers metadata, or the rank', async () => {
    expect(await firstValue(openLora(await write(factors)))).toBe(11);
    expect(await firstValue(openLora(await write([...factors, tensor(`${queries}.alpha`, [], [8])])))).toBe(14);
    const lora_adapter_metadata = JSON.stringify({ 'transformer.r': 2, 'transformer.lora_alpha': 1 });
    expect(await firstValue(openLora(await write(factors, { lora_adapter_metadata })))).toBe(10.5);
    const peft = join(folder, 'peft');
    mkdirSync(peft);
    await writeSafetensors(join(peft, 'adapter_model.safetensors'), factors);
    const config = (value: unknown) => writeFileSync(join(peft, 'adapter_config.json'), JSON.stringify(value));
    config({ lora_alpha: 6, r: 2 });
    expect(await firstValue(openLora(peft))).toBe(13);
    config({ lora_alpha: 6, alpha_pattern: { to_q: 20, to_k: 1 } });
    expect(await firstValue(openLora(join(peft, 'adapter_model.safetensors')))).toBe(20);
    config({ lora_alpha: 6, use_rslora: true });
    expect(await firstValue(openLora(peft))).toBe(Math.fround(10 + 6 / Math.sqrt(2)));
  });

  it('keeps bfloat16 and dequantises FP8', async () => {
    const adapter = openLora(await write(factors));
    const brain = mergeLora(await base('bf16'), adapter);
    expect(brain.info(`${queries}.weight`)?.dtype).toBe('bf16');
    expect([...toFloat32(brain.load(`${queries}.weight`))]).toEqual([11, 22, 35, 39, 48, 57]);
    const bytes = mergeLora(await base('f8e4m3'), adapter).load(`${queries}.weight`);
    expect([bytes.dtype, bytes.scale]).toEqual(['bf16', undefined]);
    const { names, info } = mergeLora(await base('f8e4m3'), adapter);
    expect([...names].sort()).toEqual([`${queries}.weight`, 'norm.weight']);
    expect(info(`${queries}.weight`)).toMatchObject({ fileDtype: 'BF16', byteLength: 12 });
    // 50 and 60 are no E4M3 values: they were stored as 48 and 60.
    expect([...toFloat32(bytes)]).toEqual([21, 42, 65, 19, 22, 27]);
  });

  it('stacks', async () => {
    const path = await write(factors);
    const twice = mergeLora(mergeLora(await base(), openLora(path)), openLora(path), -1);
    expect([...toFloat32(twice.load(`${queries}.weight`))]).toEqual([10, 20, 30, 40, 50, 60]);
  });

  it('multiplies ranks that are no multiple of four', async () => {
    const wave = (length: number, step: number) => Array.from({ length }, (_, i) => Math.fround(Math.sin(i * step)));
    for (const rank of [1, 3, 5, 8]) {
      const [a, b] = [wave(rank * 3, 0.7), wave(2 * rank, 1.3)];
      const pair = [tensor(`${queries}.lora_A.weight`, [rank, 3], a), tensor(`${queries}.lora_B.weight`, [2, rank], b)];
      const merged = toFloat32(mergeLora(await base(), openLora(await write(pair)), 3).load(`${queries}.weight`));
      [10, 20, 30, 40, 50, 60].forEach((value, i) => {
        let sum = 0;
        for (let r = 0; r < rank; r++) sum += (b[Math.floor(i / 3) * rank + r] ?? 0) * (a[r * 3 + (i % 3)] ?? 0);
        expect(merged[i]).toBeCloseTo(value + 3 * sum, 5);
      });
    }
  });

  it('names what it does not know', async () => {
    const magnitude = [...factors, tensor(`${queries}.lora_magnitude_vector`, [2], [1, 1])];
    const dora = await write(magnitude);
    expect(() => openLora(dora)).toThrow(
      `keys that are no LoRA factors: ${queries}.lora_magnitude_vector; only plain LoRA can be merged`,
    );
    const half = await write(factors.slice(0, 1));
    expect(() => openLora(half)).toThrow(`${queries} has no up (B) factor`);
    const second = tensor(`base_model.model.${queries}.lora_A.other.weight`, [2, 3], down);
    const several = await write([...factors, second]);
    expect(() => openLora(several)).toThrow(`${queries} has two factors of a kind; give a file that holds one adapter`);
    const lost = await write([...factors, tensor(`${queries}.alpha`, [], [Number.NaN])]);
    expect(() => openLora(lost)).toThrow(`alpha of ${queries} is no finite number; save the adapter again`);
    expect(() => openLora(join(folder, 'absent'))).toThrow(/no such LoRA file or folder/);
    const other = openLora(
      await write([tensor('blocks.7.lora_A.weight', [1, 1], [1]), tensor('blocks.7.lora_B.weight', [1, 1], [1])]),
    );
    const table = await base();
    expect(() => mergeLora(table, other)).toThrow(
      /modules that .* does not have: blocks.7; use an adapter made for this model/,
    );
    const narrow = openLora(
      await write([
        tensor(`${queries}.lora_A.weight`, [2, 2], [1, 2, 3, 4]),
        tensor(`${queries}.lora_B.weight`, [2, 2], up),
      ]),
    );
    expect(() => mergeLora(table, narrow)).toThrow(
      `weight ${queries}.weight: expected LoRA factors A [rank, 3] and B [2, rank], found A [2, 2] and B [2, 2]`,
    );
  });

  it('merges into a golden checkpoint', async () => {
    using checkpoint = openCheckpoint(fileURLToPath(new URL('../../../test/golden/data/tiny-nano', import.meta.url)));
    const name = 'layers.1.self_attn.add_k_proj';
    const ones = (length: number) => Array.from({ length }, () => 1);
    using adapter = openLora(
      await write([
        tensor(`transformer.${name}.lora_A.weight`, [4, 64], ones(256)),
        tensor(`transformer.${name}.lora_B.weight`, [32, 4], ones(128)),
      ]),
    );
    const table = checkpoint.part('transformer').table();
    const [before, after] = [table, mergeLora(table, adapter, 0.25)].map((from) =>
      toFloat32(from.load(`${name}.weight`)),
    );
    expect(after?.every((value, i) => value === Math.fround((before?.[i] ?? 0) + 1))).toBe(true);
  });
});
