// An adapter from its flags to frames: against weights changed by hand, and against none; what does not fit is refused before work.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RequestError } from '../../protocol/index.js';
import { fromFloat32, toFloat32, type WritableTensor, writeSafetensors } from '../../weights/index.js';
import { readConfig } from '../config.js';
import { convertCheckpoint } from '../flash/files/convert-checkpoint.js';
import { type LibraryRequest, Orrery } from '../index.js';
import type { LoadOptions } from '../load-options.js';
import { Planner } from '../planner/planner.js';
import { readProvenance } from '../provenance/provenance.js';
import { openModel } from './open-model.js';

const tiny = 'test/golden/data/tiny-nano';
const folder = mkdtempSync(join(tmpdir(), 'orrery-adapter-'));
afterAll(() => rmSync(folder, { recursive: true }));
const config = { ...readConfig({}), threads: 1, blas: 'off' };
const picture: LibraryRequest = { task: 'text-to-image', prompt: 'A cat.', width: 32, height: 32, steps: 2, seed: 3 };

/** `[out, in]` of the weights that the adapter is for. */
const modules = { 'layers.0.self_attn.add_q_proj': [64, 64], 'layers.1.mlp_moe_gen.down_proj': [64, 160] } as const;
const wave = (length: number, step: number) => Float32Array.from({ length }, (_, i) => 0.3 * Math.sin(i * step));
const tensor = (name: string, shape: number[], values: Float32Array): WritableTensor => ({
  name,
  dtype: 'f32',
  shape,
  bytes: fromFloat32(values, 'f32'),
});

const adapter = join(folder, 'adapter.safetensors');
const peft = join(folder, 'peft');
const other = join(folder, 'other.safetensors');
const narrow = join(folder, 'narrow.safetensors');
const byHand = join(folder, 'by-hand');
const scale = 0.75;

/** B A of rank 1, times a factor, added to a weight. */
function add(values: Float32Array, [rows, columns]: readonly [number, number], factor: number): Float32Array {
  const [a, b] = [wave(columns, 0.7), wave(rows, 1.3)];
  return values.map((value, i) => value + factor * ((b[Math.floor(i / columns)] ?? 0) * (a[i % columns] ?? 0)));
}

beforeAll(async () => {
  const factors = (prefix: string) =>
    Object.entries(modules).flatMap(([module, [rows, columns]]) => [
      tensor(`${prefix}${module}.lora_A.weight`, [1, columns], wave(columns, 0.7)),
      tensor(`${prefix}${module}.lora_B.weight`, [rows, 1], wave(rows, 1.3)),
    ]);
  await writeSafetensors(adapter, factors('transformer.'));
  mkdirSync(peft);
  await writeSafetensors(join(peft, 'adapter_model.safetensors'), factors('base_model.model.'));
  await writeSafetensors(join(peft, 'notes.safetensors'), [tensor('x', [1], wave(1, 1))]);
  const pair = (module: string, [rows, columns]: readonly [number, number]) => [
    tensor(`${module}.lora_A.weight`, [1, columns], wave(columns, 1)),
    tensor(`${module}.lora_B.weight`, [rows, 1], wave(rows, 1)),
  ];
  await writeSafetensors(other, [...pair('layers.7.self_attn.to_q', [64, 64]), ...pair('blocks.0', [1, 1])]);
  await writeSafetensors(narrow, pair('layers.0.self_attn.to_q', [64, 32]));
  mkdirSync(byHand);
  cpSync(join(tiny, 'transformer/config.json'), join(byHand, 'config.json'));
  const { checkpoint } = await openModel({ model: tiny }, config);
  const table = checkpoint.part('transformer').table();
  const changed = table.names.map((name) => {
    const { shape, dtype, bytes } = table.load(name);
    const size = Object.entries(modules).find(([module]) => name === `${module}.weight`)?.[1];
    if (size === undefined) return { name, shape, dtype, bytes };
    return tensor(name, [...shape], add(toFloat32({ shape, dtype, bytes }), size, scale));
  });
  await writeSafetensors(join(byHand, 'diffusion_pytorch_model.safetensors'), changed);
  checkpoint[Symbol.dispose]();
});

async function generate(options: LoadOptions) {
  await using orrery = await Orrery.load({ model: tiny, config, ...options });
  const artifact = await orrery.generate(picture).result();
  return { ...artifact, setup: orrery.openDevice?.setup ?? [] };
}

describe('a merged adapter', () => {
  it('changes the weights that it names, and no others', async () => {
    const { checkpoint } = await openModel({ model: tiny, lora: { path: adapter, scale } }, config);
    const plain = await openModel({ model: tiny }, config);
    const [merged, before] = [checkpoint, plain.checkpoint].map((from) => from.part('transformer').table());
    const changed = before?.names.filter(
      (name) => !Buffer.from(before.load(name).bytes).equals(merged?.load(name).bytes ?? new Uint8Array()),
    );
    expect(changed?.sort()).toEqual(Object.keys(modules).map((module) => `${module}.weight`));
    for (const [module, size] of Object.entries(modules)) {
      const weight = `${module}.weight`;
      const [found, was] = [merged, before].map((table) => table && toFloat32(table.load(weight)));
      expect(found).toEqual(was && add(was, size, scale));
    }
    checkpoint[Symbol.dispose]();
    plain.checkpoint[Symbol.dispose]();
  });

  it('gives the frames of weights changed by hand; at scale 0 those of none', async () => {
    const none = await generate({});
    const zero = await generate({ lora: { path: adapter, scale: 0 } });
    const merged = await generate({ lora: { path: adapter, scale } });
    const changed = await generate({ parts: { transformer: byHand } });
    expect(zero.framesSha256).toBe(none.framesSha256);
    expect(merged.framesSha256).toBe(changed.framesSha256);
    expect(merged.framesSha256).not.toBe(none.framesSha256);
    expect(merged.setup[1]).toMatch(/^adapter [0-9a-f]{12} merged at scale 0.75$/);
    expect(none.fingerprint.checkpoint).not.toBe(zero.fingerprint.checkpoint);
    expect(zero.fingerprint.checkpoint).not.toBe(merged.fingerprint.checkpoint);
  });

  it('is known by its contents wherever it lies, in artifacts too, and needed to repeat them', async () => {
    const output = join(folder, 'cat.json');
    await using orrery = await Orrery.load({ model: tiny, config, lora: { path: adapter } });
    const artifact = await orrery.generate(picture, { output: [join(folder, 'cat.png'), output] }).result();
    const lora = readProvenance(readFileSync(output, 'utf8'))?.lora;
    expect(lora).toEqual({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), scale: 1 });
    const again = await openModel({ model: tiny, lora: { path: peft } }, config);
    expect(again.checkpoint.lora).toEqual(lora);
    again.checkpoint[Symbol.dispose]();
    expect((await orrery.repeat(join(folder, 'cat.png')).result()).framesSha256).toBe(artifact.framesSha256);
    await using without = await Orrery.load({ model: tiny, config });
    await expect(without.repeat(output).result()).rejects.toThrow(
      /^no adapter is loaded, the artifact was made with adapter [0-9a-f]{12} at scale 1; give it with --lora-path FILE --lora-scale 1$/,
    );
  });

  it('is written into a checkpoint by a conversion', async () => {
    const output = join(folder, 'converted');
    await convertCheckpoint(tiny, { output, to: 'diffusers', lora: { path: adapter, scale }, environment: config });
    const bytes = (path: string) => readFileSync(join(path, 'diffusion_pytorch_model.safetensors'));
    const { checkpoint } = await openModel({ model: tiny, parts: { transformer: output } }, config);
    const wanted = await openModel({ model: tiny, parts: { transformer: byHand } }, config);
    const [found, changed] = [checkpoint, wanted.checkpoint].map((from) => from.part('transformer').table());
    expect(found?.names).toEqual(changed?.names);
    for (const name of changed?.names ?? [])
      expect(
        Buffer.from(found?.load(name).bytes ?? []).equals(changed?.load(name).bytes ?? Buffer.alloc(1)),
        name,
      ).toBe(true);
    expect(bytes(output).length).toBeGreaterThan(1_000_000);
    checkpoint[Symbol.dispose]();
    wanted.checkpoint[Symbol.dispose]();
  });
});

describe('an adapter that cannot be merged', () => {
  const text = join(folder, 'notes.txt');
  const empty = join(folder, 'empty');
  beforeAll(() => {
    writeFileSync(text, 'no adapter');
    mkdirSync(empty);
  });

  it.each([
    [{ path: join(folder, 'nowhere') }, /^--lora-path .*nowhere: no such LoRA file or folder; check the path$/],
    [{ path: text }, /^--lora-path .*notes\.txt: no \.safetensors file; give a \.safetensors file, or a folder/],
    [{ path: empty }, /^--lora-path .*empty: no \.safetensors file in it; give/],
    [{ path: byHand }, /^--lora-path .*by-hand.*: keys that are no LoRA factors: .* and \d+ more; only plain LoRA/],
    [{ path: other }, /modules that .* does not have: blocks\.0, layers\.7\.self_attn\.to_q; use an adapter made for/],
    [
      { path: narrow },
      /narrow\.safetensors: weight layers\.0\.self_attn\.to_q\.weight: expected LoRA factors A \[rank, 64\] and B \[64, rank\], found A \[1, 32\]/,
    ],
    [{ path: adapter, scale: Number.NaN }, /^--lora-scale must be a number, got NaN$/],
  ])('%j is refused as the checkpoint is opened, by engine and server', async (lora, message) => {
    const options = { model: tiny, config, lora };
    for (const open of [() => Orrery.load(options), () => Planner.open(options)]) {
      const error: unknown = await open().then(String, (reason: unknown) => reason);
      expect(error).toBeInstanceOf(RequestError);
      expect(error).toHaveProperty('message', expect.stringMatching(message));
    }
  });

  it('is refused beside random weights, and in a conversion', async () => {
    const lora = { path: other };
    await expect(openModel({ synthetic: 'nano', lora: { path: adapter } }, config)).rejects.toThrow(
      'an adapter cannot be merged into random weights (--synthetic)',
    );
    const output = join(folder, 'refused');
    await expect(convertCheckpoint(tiny, { output, to: 'diffusers', lora, environment: config })).rejects.toThrow(
      /^--lora-path .*modules that/,
    );
  });
});
