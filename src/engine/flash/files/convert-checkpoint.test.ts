import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { openSafetensors, writeSafetensors } from '../../../weights/index.js';
import { readConfig } from '../../config.js';
import { dumpReference } from '../dump-reference.js';
import { loadModel } from '../load-model.js';
import { type ConvertOptions, convertCheckpoint } from './convert-checkpoint.js';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const micro = join(root, 'checkpoints/micro');
const nano = join(root, 'test/golden/data/tiny-nano');
const edge = join(root, 'test/golden/data/tiny-edge');
const folder = mkdtempSync(join(tmpdir(), 'orrery-convert-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const environment = readConfig({ ORRERY_DEVICE: 'cpu', ORRERY_THREADS: '1' });
const convert = (source: string, options: ConvertOptions) => convertCheckpoint(source, { environment, ...options });

/** Names and bytes. */
function contents(path: string): Map<string, string> {
  using file = openSafetensors(path);
  return new Map(
    [...file.tensors].map(([name, { fileDtype, shape, bytes }]) => [
      name,
      `${fileDtype} ${shape.join('x')} ${Buffer.from(bytes()).toString('base64')}`,
    ]),
  );
}

const weightsOf = (part: string) => join(part, 'diffusion_pytorch_model.safetensors');

describe('to flat', () => {
  it('takes what denoising reads, bit by bit, and says what it leaves', async () => {
    const output = join(folder, 'micro.safetensors');
    const { tensors, dropped, hasConfig, layout } = await convert(micro, { output });
    expect({ tensors, hasConfig, layout }).toEqual({ tensors: 6 * 22 + 5, hasConfig: true, layout: 'flat' });
    expect(dropped).toContain('embed_tokens.weight');
    expect(dropped).toHaveLength(17);
    const [flat, own] = [contents(output), contents(weightsOf(join(micro, 'transformer')))];
    expect(flat.size).toBe(tensors);
    expect(flat.get('language_model.model.layers.5.self_attn.v_proj_moe_gen.weight')).toBe(
      own.get('layers.5.self_attn.add_v_proj.weight'),
    );
    expect(flat.get('llm2vae.bias')).toBe(own.get('proj_out.bias'));
  });

  it('takes everything where that is asked, so that the way back is whole', async () => {
    const output = join(folder, 'all.safetensors');
    expect(await convert(micro, { output, all: true })).toMatchObject({ dropped: [] });
    const back = join(folder, 'all');
    expect(await convert(output, { output: back })).toMatchObject({ missing: [], fromBase: [], layout: 'diffusers' });
    expect(contents(weightsOf(back))).toEqual(contents(weightsOf(join(micro, 'transformer'))));
    expect(readFileSync(join(back, 'config.json'))).toEqual(readFileSync(join(micro, 'transformer/config.json')));
  });
});

describe('back', () => {
  const flat = join(folder, 'nano.safetensors');

  it('names what is missing, or takes it from a base', async () => {
    await convert(nano, { output: flat });
    const alone = await convert(flat, { output: join(folder, 'alone') });
    expect(alone.missing.slice(0, 2)).toEqual(['embed_tokens.weight', 'time_embedder.linear_1.weight']);
    const whole = await convert(flat, { output: join(folder, 'whole'), base: nano });
    expect(whole.missing).toEqual([]);
    expect(whole.fromBase).toContain('embed_tokens.weight');
    expect(contents(weightsOf(join(folder, 'whole')))).toEqual(contents(weightsOf(join(nano, 'transformer'))));
  });

  it.each([
    [{ output: join(folder, 'x.safetensors') }, /must be a folder/],
    [{ output: micro }, /micro exists; give another name/],
    [{ output: join(folder, 'none', 'x') }, /none does not exist; create it first/],
    [{ output: join(folder, 'y'), base: micro }, /its transformer has layers 6, the source \d/],
    [{ output: join(folder, 'y'), to: 'flat' }, /must end in \.safetensors/],
  ] as const)('refuses %o', async (options, message) => {
    await expect(convert(flat, options)).rejects.toThrow(message);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('leaves nothing of a conversion that was stopped', async () => {
    const before = readdirSync(folder);
    for (const output of [join(folder, 'stopped'), join(folder, 'stopped.safetensors')]) {
      const stop = new AbortController();
      const to = output.endsWith('.safetensors') ? 'flat' : 'diffusers';
      const onProgress = ({ bytes }: { readonly bytes: number }) => bytes > 0 && stop.abort(new Error('stopped'));
      await expect(convert(flat, { output, to, signal: stop.signal, onProgress })).rejects.toThrow('stopped');
    }
    expect(readdirSync(folder)).toEqual(before);
  });
});

describe('an Edge network', () => {
  it('with its own MLP and norms is dumped, converted and reproduced', async () => {
    const [ref, output] = [join(folder, 'edge-dump.safetensors'), join(folder, 'edge.safetensors')];
    const parts = { vae: join(nano, 'vae') };
    const request = { prompt: 'A kettle.', width: 64, height: 48, frames: 5, steps: 3, seed: 4 };
    await dumpReference({ ...request, model: edge, parts, output: ref, environment });
    await convert(edge, { output });
    // Sizes are read from shapes: without the configuration it is the same.
    const bare = join(folder, 'edge-bare.safetensors');
    using file = openSafetensors(output);
    await writeSafetensors(
      bare,
      [...file.tensors].flatMap(([name, { dtype, shape, bytes }]) =>
        dtype === undefined ? [] : [{ name, dtype, shape, bytes: bytes() }],
      ),
    );
    for (const path of [output, bare]) {
      await using model = await loadModel(path, { environment, onWarning: () => {} });
      await model.setPrompt({ ref });
      const { relL2 } = await model.infer({ compareRef: true, returnMetadata: true });
      expect(relL2).toBeLessThan(1e-6);
    }
  });
});

describe('a folder of shards', () => {
  it('that contradicts its configuration is refused', async () => {
    const part = join(folder, 'contradiction');
    mkdirSync(part);
    const config: object = JSON.parse(readFileSync(join(nano, 'transformer/config.json'), 'utf8'));
    writeFileSync(join(part, 'config.json'), JSON.stringify({ ...config, intermediate_size: 7 }));
    writeFileSync(weightsOf(part), readFileSync(weightsOf(join(nano, 'transformer'))));
    await expect(convert(part, { output: join(folder, 'c.safetensors') })).rejects.toThrow(
      /its configuration says inner 7, its tensors \d+; the configuration belongs to other weights/,
    );
    expect(existsSync(join(folder, 'c.safetensors'))).toBe(false);
  });
});
