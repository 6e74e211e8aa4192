import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RequestError } from '../protocol/index.js';
import { readConfig } from './config.js';
import { compareWithOriginal, type LibraryRequest, Orrery, type ProgressEvent, readOriginal } from './index.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-api-'));
const config = { ...readConfig({}), threads: 1, blas: 'off' };
const picture: LibraryRequest = { task: 'text-to-image', prompt: 'A cat.', width: 32, height: 32, steps: 2, seed: 3 };
let orrery: Orrery;

beforeAll(async () => {
  orrery = await Orrery.load({ model: 'test/golden/data/tiny-nano', config });
});

afterAll(async () => {
  await orrery[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

describe('Orrery', () => {
  it('names its checkpoint and device', () => {
    expect(orrery.model).toBe('tiny-nano');
    expect(orrery.device).toBe('cpu');
  });

  it('plans the same in either form of request', async () => {
    const plain = await orrery.plan({ ...picture, negativePrompt: 'dogs' });
    const form = await orrery.plan({
      prompt: 'A cat.',
      modalities: ['image'],
      negative_prompt: 'dogs',
      size: '32x32',
      num_inference_steps: 2,
      extra_params: { seed: 3 },
    });
    expect(form.plan).toEqual(plain.plan);
    expect(form.hash).toBe(plain.hash);
    expect(plain.plan).toMatchObject({ task: 'text-to-image', frames: 1, seed: 3, steps: 2, model: 'tiny-nano' });
    expect(plain.estimate.tokens.vision).toBe(1);
  });

  it('draws a seed where none is given', async () => {
    const { seed: _, ...unseeded } = picture;
    const [a, b] = [await orrery.plan(unseeded), await orrery.plan(unseeded)];
    expect(a.plan.seed).not.toBe(b.plan.seed);
  });

  it('reports progress that ends in the artifact, bytes included', async () => {
    const events: ProgressEvent[] = [];
    for await (const event of orrery.generate(picture)) events.push(event);
    const names = events.map((event) => (event.type === 'phase' ? event.phase : event.type));
    expect(names).toEqual([
      'plan',
      'load',
      'text',
      'encode',
      'denoise',
      'step',
      'step',
      'decode',
      'frames',
      'write',
      'artifact',
    ]);
    const last = events.at(-1);
    if (last?.type !== 'artifact') throw new Error('no artifact');
    const { artifact } = last;
    expect(artifact).toMatchObject({
      files: [],
      mediaType: 'image/png',
      width: 32,
      height: 32,
      frames: 1,
      action: null,
    });
    expect(Buffer.from(artifact.data ?? []).toString('latin1', 1, 4)).toBe('PNG');
    expect(artifact.framesSha256).toMatch(/^[0-9a-f]{64}$/);
    expect(artifact.fingerprint).toMatchObject({ device: 'cpu', blas: 'built-in', ffmpeg: null });
  });

  it('gives the same bytes for the same plan, on one thread and on two', async () => {
    const first = await orrery.generate(picture).result();
    await using other = await Orrery.load({ model: 'test/golden/data/tiny-nano', config, threads: 2 });
    const second = await other.generate(picture).result();
    expect(Buffer.from(second.data ?? []).equals(Buffer.from(first.data ?? []))).toBe(true);
  });

  it('runs one generation at a time, in order', async () => {
    const order: string[] = [];
    const run = async (name: string) => {
      for await (const event of orrery.generate({ ...picture, prompt: name })) {
        if (event.type === 'plan' || event.type === 'artifact') order.push(`${name} ${event.type}`);
      }
    };
    await Promise.all([run('a'), run('b')]);
    expect(order).toEqual(['a plan', 'a artifact', 'b plan', 'b artifact']);
  });

  it('stops between steps when aborted, and works again afterwards', async () => {
    const stop = new AbortController();
    const output = join(folder, 'stopped.png');
    let steps = 0;
    const run = async () => {
      for await (const event of orrery.generate({ ...picture, steps: 50 }, { output, signal: stop.signal })) {
        if (event.type === 'step' && ++steps === 3) stop.abort(new Error('enough'));
      }
    };
    await expect(run()).rejects.toThrow('enough');
    expect(steps).toBe(3);
    expect(readdirSync(folder)).toEqual([]);
    expect((await orrery.generate(picture).result()).frames).toBe(1);
  });

  it('stops when its loop is left', async () => {
    for await (const event of orrery.generate({ ...picture, steps: 50 })) if (event.type === 'step') break;
    const { files } = await orrery.generate(picture, { output: join(folder, 'a.png') }).result();
    expect(files).toMatchObject([{ kind: 'png', mediaType: 'image/png' }]);
    expect(readFileSync(join(folder, 'a.png')).length).toBe(files[0]?.bytes);
  });

  it('takes decoded pixels, bytes and paths as inputs', async () => {
    const pixels = { width: 32, height: 32, data: new Uint8Array(32 * 32 * 3).fill(90) };
    const clip = { prompt: 'It moves.', width: 32, height: 32, frames: 5, steps: 1, seed: 1 };
    const png = readFileSync(join(folder, 'a.png'));
    const plans = await Promise.all([
      orrery.plan({ ...clip, image: pixels }),
      orrery.plan({ ...clip, image: new Uint8Array(png) }),
      orrery.plan({
        prompt: 'It moves.',
        multi_modal_data: { image: join(folder, 'a.png') },
        size: '32x32',
        num_frames: 5,
      }),
    ]);
    expect(plans.map(({ plan }) => plan.task)).toEqual(Array(3).fill('image-to-video'));
    expect(plans[1]?.plan.inputs).toEqual(plans[2]?.plan.inputs);
    const { frames } = await orrery.generate({ ...clip, image: pixels }).result();
    expect(frames).toBe(5);
  });

  it('repeats an artifact, and notices a changed input', async () => {
    const output = join(folder, 'still.png');
    const image = join(folder, 'a.png');
    const request = { prompt: 'Still.', image, width: 32, height: 32, frames: 1, steps: 2, seed: 9 };
    await orrery.generate(request, { output }).result();
    const original = await readOriginal(output);
    const again = await orrery.repeat(output, { output: join(folder, 'again.png') }).result();
    expect(await compareWithOriginal(original, again)).toEqual({
      promised: 'bytes',
      differing: [],
      framesMatch: true,
      bytesMatch: true,
    });
    const other = { kind: 'file', path: output } as const;
    await expect(orrery.repeat(output, { image: other }).result()).rejects.toThrow(
      /^image has changed: its SHA-256 is /,
    );
    const pixels = { width: 32, height: 32, data: new Uint8Array(32 * 32 * 3) };
    await orrery.generate({ ...request, image: pixels }, { output }).result();
    await expect(orrery.repeat(output).result()).rejects.toThrow(/^image is missing: .* give it again/);
  });

  it('refuses a plan that its file cannot carry', async () => {
    const prompt = 'ab '.repeat(400_000);
    const run = orrery.generate({ ...picture, prompt, maxSequenceLength: 262_144 }).result();
    await expect(run).rejects.toThrow(/^the plan has \d+ bytes, and result\.png can carry 1048576: shorten the prompt/);
  });

  it('checks prompts unless told not to', async () => {
    const form = { prompt: 'nsfw', modalities: ['image'], size: '32x32', num_inference_steps: 1 };
    await expect(orrery.generate(form).result()).rejects.toMatchObject({ code: 'prompt_blocked', param: 'prompt' });
    const unchecked = { ...form, extra_params: { guardrails: false } };
    expect((await orrery.generate(unchecked).result()).frames).toBe(1);
  });

  it.each([
    [{ prompt: 'x', image: 'nowhere.png' }, 'invalid_media', /nowhere\.png/],
    [{ prompt: 'x', width: -1 }, 'invalid_value', /width/],
    [{ prompt: 'x', num_frames: 'many' }, 'invalid_value', /num_frames/],
    [
      { prompt: 'x', guidanceScale: 3 },
      'unknown_parameter',
      /^a request has no field guidanceScale; did you mean guidance\?$/,
    ],
    [{ prompt: 'x', action: { domain: 'av' } }, 'unknown_parameter', /did you mean action\.domainId\?/],
    [
      { prompt: 'x', transfer: { hints: [{ kind: 'edge', wieght: 1 }] } },
      'unknown_parameter',
      /hints\[0\]\.wieght.*weight/,
    ],
    [{ prompt: 'x', image: { width: 2, height: 2, data: new Uint8Array(3) } }, 'invalid_value', /12 bytes/],
  ])('refuses %j', async (request, code, message) => {
    const failure = await orrery.plan(request).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RequestError);
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('names the devices it knows', async () => {
    await expect(Orrery.load({ model: 'test/golden/data/tiny-nano', device: 'gpu', config })).rejects.toThrow(
      'device gpu is unknown (did you mean cuda?); there are: cpu',
    );
  });
});
