// The whole policy on the CPU: dumps of the package's checkpoint, and what is wrong with dumps, options and orders of calls.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  decodeFloat32,
  fromFloat32,
  openSafetensors,
  type WritableTensor,
  writeSafetensors,
} from '../../weights/index.js';
import { readConfig } from '../config.js';
import { Cosmos3Video } from './cosmos3-video.js';
import { dumpReference } from './dump-reference.js';
import { convertCheckpoint } from './files/convert-checkpoint.js';
import { openTransformer } from './files/open-transformer.js';
import { readTransformerShape } from './files/transformer-shape.js';
import { type LoadModelOptions, loadModel } from './load-model.js';

const micro = fileURLToPath(new URL('../../../checkpoints/micro', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'orrery-flash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const environment = readConfig({ ORRERY_DEVICE: 'cpu', ORRERY_THREADS: '1' });

/** 64x80 pixels are 4x5 latents: an odd number of columns, in patches of two. */
const size = { width: 80, height: 64, frames: 5, steps: 6 };
const flat = join(folder, 'flat.safetensors');
const ball = join(folder, 'ball.safetensors');
const street = join(folder, 'street.safetensors');

beforeAll(async () => {
  const request = { ...size, model: micro, seed: 1, environment };
  await dumpReference({ ...request, prompt: 'A red ball rolls to the right.', output: ball });
  await dumpReference({ ...request, prompt: 'A street.', output: street, shift: 5 });
  await convertCheckpoint(micro, { output: flat, environment });
});

async function load(options: LoadModelOptions = {}, path = flat) {
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  const model = await loadModel(path, { config: 'cosmos3_video', environment, onWarning, ...options });
  return { model, warnings, [Symbol.asyncDispose]: () => model[Symbol.asyncDispose]() };
}

/** A dump like another, with some tensors changed. */
async function altered(name: string, change: (tensors: Map<string, WritableTensor>) => void): Promise<string> {
  using file = openSafetensors(ball);
  const tensors = new Map<string, WritableTensor>();
  for (const [key, { dtype, shape, bytes }] of file.tensors)
    if (dtype !== undefined) tensors.set(key, { name: key, dtype, shape, bytes: bytes() });
  change(tensors);
  const path = join(folder, `${name}.safetensors`);
  await writeSafetensors(path, tensors.values());
  return path;
}

function floatsOf({ bytes, dtype }: WritableTensor): Float32Array {
  if (typeof bytes === 'function') throw new Error('bytes are at hand');
  return decodeFloat32(bytes, dtype);
}

describe('a dump of our own', () => {
  it.each([
    ['flat', flat],
    ['diffusers', micro],
    ['diffusers, the transformer alone', join(micro, 'transformer')],
  ])('is reproduced from %s weights', async (_, path) => {
    await using loaded = await load({}, path);
    await loaded.model.setPrompt({ ref: ball });
    const result = await loaded.model.infer({ compareRef: true, returnMetadata: true });
    expect(result.latent.shape).toEqual([1, 16, 2, 4, 5]);
    expect(result.cos).toBeGreaterThan(1 - 1e-9);
    expect(result.relL2).toBeLessThan(1e-6);
    expect(result).toMatchObject({ quant: 'f32', skipped: [], warnings: [] });
    expect(loaded.model.getLatencyStats()).toEqual({ denoiseLoopMs: result.latencyMs });
    expect(loaded.warnings).toEqual(['cpu has no FP8: computing in float32']);
  });

  it('is read once: runs go on without the file, and are equal', async () => {
    await using loaded = await load({ useFp8: false });
    const gone = await altered('gone', () => {});
    await loaded.model.setPrompt({ ref: gone });
    rmSync(gone);
    const first = await loaded.model.infer();
    const second = await loaded.model.infer();
    expect(second.data).toEqual(first.data);
    expect(loaded.warnings).toEqual(['cpu computes in float32, wider than bfloat16']);
  });

  it('leaves nothing behind for the next', async () => {
    await using loaded = await load();
    await loaded.model.setPrompt({ ref: ball });
    const fresh = await loaded.model.infer();
    await loaded.model.setPrompt({ ref: street });
    const { relL2 } = await loaded.model.infer({
      shift: 5,
      teacacheSkip: '2,3',
      compareRef: true,
      returnMetadata: true,
    });
    expect(relL2).toBeGreaterThan(1e-3);
    expect(await loaded.model.infer({ shift: 5, compareRef: true, returnMetadata: true })).toMatchObject({ relL2: 0 });
    await loaded.model.setPrompt({ ref: ball });
    expect((await loaded.model.infer()).data).toEqual(fresh.data);
  });

  it('skips steps, and extrapolates better than it holds', async () => {
    await using loaded = await load();
    await loaded.model.setPrompt({ ref: ball });
    const seen: number[] = [];
    const run = { teacacheSkip: [2, 4], compareRef: true, returnMetadata: true } as const;
    const held = await loaded.model.infer({ ...run, onStep: ({ step }) => seen.push(step) });
    const extrapolated = await loaded.model.infer({ ...run, teacacheMode: 'extrapolate' });
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
    expect(held.skipped).toEqual([2, 4]);
    expect(held.relL2).toBeGreaterThan(1e-4);
    // Two of six steps, at a size that the checkpoint was never trained for: `orrery quality` holds real ones to 0.194.
    expect(held.relL2).toBeLessThan(0.5);
    expect(extrapolated.relL2).toBeLessThan(held.relL2);
  });

  it('may have its rows once a token, in half precision', async () => {
    const wide = await altered('rows', (tensors) => {
      const tokens = tensors.get('s00/vae2llm_in')?.shape[0] ?? 0;
      for (const [key, tensor] of tensors) {
        if (!key.endsWith('/timestep_emb')) continue;
        const row = fromFloat32(floatsOf(tensor), 'bf16');
        const bytes = Buffer.concat(Array.from({ length: tokens }, () => row));
        tensors.set(key, { name: key, dtype: 'bf16', shape: [tokens, tensor.shape[1] ?? 0], bytes });
      }
    });
    await using loaded = await load({}, micro);
    await loaded.model.setPrompt({ ref: wide });
    const result = await loaded.model.infer({ compareRef: true, returnMetadata: true });
    expect(result.warnings).toEqual([]);
    expect(result.cos).toBeGreaterThan(0.9999);
    expect(result.relL2).toBeGreaterThan(0);
  });
});

describe('what is not right', () => {
  it('is said of the skip list and the shift', async () => {
    await using loaded = await load();
    await loaded.model.setPrompt({ ref: ball });
    const result = await loaded.model.infer({ teacacheSkip: '2,5,x', shift: 5, returnMetadata: true });
    expect(result.warnings).toEqual([
      'the skip list has entries that do nothing: 5 (the last step is always computed), x (no step number)',
      expect.stringMatching(/^shift 5 is not the dump's, which was made with 10/),
    ]);
    expect(loaded.warnings.slice(1)).toEqual(result.warnings);
  });

  it('a shift is recognised by the time embedder where the dump does not state it', async () => {
    const silent = await altered('silent', (tensors) => tensors.delete('meta/shift'));
    await using knowing = await load({}, micro);
    await knowing.model.setPrompt({ ref: silent });
    expect((await knowing.model.infer({ returnMetadata: true })).warnings).toEqual([]);
    const other = await knowing.model.infer({ shift: 9, returnMetadata: true });
    expect(other.warnings).toEqual([expect.stringMatching(/give --shift 10(\.\d)?$/)]);
    await using unknowing = await load();
    await unknowing.model.setPrompt({ ref: silent });
    expect((await unknowing.model.infer({ returnMetadata: true })).warnings[0]).toMatch(/^shift 10 is unchecked/);
  });

  it('of a dump is named, all of it, before a device is opened', async () => {
    const file = openTransformer(flat);
    await using model = new Cosmos3Video({
      file,
      shape: readTransformerShape(file),
      hardware: 'cpu',
      quant: 'f32',
      quantization: null,
      openDevice: () => Promise.reject(new Error('the device was opened')),
      onWarning: () => {},
    });
    const lacking = await altered('lacking', (tensors) => {
      for (const key of ['once/und_in', 's02/timestep_emb', 's03/timestep_emb', 's00/gen_in']) tensors.delete(key);
      const cos = tensors.get('once/rope_gen_cos');
      if (cos) tensors.set('once/rope_gen_cos', { ...cos, shape: [cos.shape[1] ?? 0, cos.shape[0] ?? 0] });
      tensors.set('foo/timestep_emb', { name: 'foo/timestep_emb', dtype: 'f32', shape: [1], bytes: new Uint8Array(4) });
    });
    await expect(model.setPrompt({ ref: lacking })).rejects.toMatchObject({
      name: 'IncompleteFileError',
      missing: ['once/und_in', 's00/gen_in', 's02/timestep_emb', 's03/timestep_emb'],
      misfits: [
        'once/rope_gen_cos is [64, 12], expected [12, 64]',
        'foo/timestep_emb is no step: steps are s00/timestep_emb, s01/timestep_emb and on',
      ],
      message: expect.stringContaining('4 keys missing: once/und_in, s00/gen_in, s{02-03}/timestep_emb'),
    });
    await expect(model.setPrompt({ ref: join(folder, 'none.safetensors') })).rejects.toThrow(/cannot be opened/);
    await expect(model.setPrompt({ ref: ball })).rejects.toThrow('the device was opened');
  });

  it('rows that differ within a step cannot be used', async () => {
    const uneven = await altered('uneven', (tensors) => {
      const tensor = tensors.get('s01/timestep_emb');
      if (!tensor) return;
      const rows = new Float32Array(12 * 256).fill(1);
      rows[3 * 256] = 2;
      const bytes = fromFloat32(rows, 'f32');
      tensors.set('s01/timestep_emb', { name: 's01/timestep_emb', dtype: 'f32', shape: [12, 256], bytes });
    });
    await using loaded = await load();
    await expect(loaded.model.setPrompt({ ref: uneven })).rejects.toThrow(
      /s01\/timestep_emb: its rows differ, the first at token 3/,
    );
  });

  it('of weights is named, all of it, by loadModel', async () => {
    const path = join(folder, 'half.safetensors');
    using file = openSafetensors(flat);
    const kept = [...file.tensors].flatMap(([name, { dtype, shape, bytes }]): WritableTensor[] =>
      dtype === undefined || /up_proj|layers\.2\.self_attn\.k_norm\.|vae2llm\.bias/.test(name)
        ? []
        : [{ name, dtype, shape, bytes: bytes() }],
    );
    await writeSafetensors(path, kept);
    await expect(loadModel(path, { environment })).rejects.toMatchObject({
      missing: expect.arrayContaining(['vae2llm.bias', 'language_model.model.layers.2.self_attn.k_norm.weight']),
      message: expect.stringContaining('language_model.model.layers.{0-5}.mlp_moe_gen.up_proj.weight'),
    });
  });

  it('orders and options are refused, with what would do', async () => {
    await using loaded = await load();
    const { model } = loaded;
    await expect(model.infer()).rejects.toThrow('setPrompt({ ref }) must be called before infer()');
    await expect(model.setPrompt({ ref: '' })).rejects.toThrow(
      /^Cosmos3-video needs the official reference dump: setPrompt\(/,
    );
    await model.setPrompt({ ref: ball });
    await expect(model.infer({ compareRef: true })).rejects.toThrow(/set returnMetadata too/);
    await expect(model.infer({ shift: 0 })).rejects.toThrow(/^shift is 0/);
    await expect(model.infer(JSON.parse('{"teacache_skip": "3"}'))).rejects.toThrow(
      'infer has no option teacache_skip; did you mean teacacheSkip?',
    );
    expect(model.getLatencyStats()).toEqual({ denoiseLoopMs: null });
    const stop = new AbortController();
    const reason = new Error('enough');
    const stopped = model.infer({ signal: stop.signal, onStep: () => stop.abort(reason) });
    await expect(stopped).rejects.toBe(reason);
    expect((await model.infer({ compareRef: true, returnMetadata: true })).relL2).toBeLessThan(1e-6);
  });

  it.each([
    ['{"config": "pi05"}', 'config pi05 is unknown; there is cosmos3_video'],
    ['{"framework": "jax"}', 'framework jax is unknown; there is orrery and torch'],
    ['{"hardware": "rtx_sm120"}', 'hardware rtx_sm120 was asked for, this machine has cpu'],
    ['{"useFp8": true}', 'FP8 needs an NVIDIA GPU of compute capability 8.9 or newer, this is cpu'],
    ['{"useFp16": true}', 'loadModel has no option useFp16; did you mean useFp8?'],
    ['{"quantization": {"excludeLayers": [0]}}', 'nothing is FP8 here'],
  ])('loadModel refuses %s', async (options, message) => {
    await expect(loadModel(flat, { environment, ...JSON.parse(options) })).rejects.toThrow(message);
  });
});
