// `orrery generate` makes each kind of result from one command, and repeats it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { decodeImage, decodeWav, probeVideo } from '../../src/media/index.js';
import { openSafetensors } from '../../src/weights/index.js';
import { complaints, filesIn, runCli, temporaryFolder } from './run-cli.js';
import { writeSamples } from './sample-media.js';

const folder = temporaryFolder();
const path = (name: string) => join(folder, name);
const tiny = '--size 64x48 --num-frames 5 --num-inference-steps 2 --seed 7 --threads 1'.split(' ');
const generate = (...args: string[]) => runCli(['generate', ...args], { cwd: folder });

beforeAll(() => writeSamples(folder));

// Several processes at a time on a busy machine take their time.
describe('generate', { timeout: 90_000 }, () => {
  test.concurrent('writes a clip, and the same bytes again from it', async () => {
    const run = await generate('A red ball.', ...tiny, '-o', 'ball.mp4');
    expect(run.code).toBe(0);
    expect(run.stdout).toMatch(/^ball\.mp4 {2}text-to-video, 64x48, 5 frames, 8 fps, seed 7, [\d.]+ KiB$/m);
    expect(run.stdout).toMatch(/\nTotal generation time: \d+\.\d\d s\n$/);
    expect(await probeVideo(path('ball.mp4'))).toMatchObject({
      width: 64,
      height: 48,
      frames: 5,
      fps: 8,
      codec: 'h264',
    });

    const again = await generate('--from', 'ball.mp4', '-o', 'again.mp4');
    expect(again.code).toBe(0);
    expect(again.stderr).toContain('equal fingerprints: bytes must match; frames match, bytes match');
    expect(readFileSync(path('again.mp4')).equals(readFileSync(path('ball.mp4')))).toBe(true);
  });

  test.concurrent('writes pictures and metadata in one run', async () => {
    const outputs = ['-o', 'cat.png', '-o', 'cat.jpg', '-o', 'cat.webp', '-o', 'cat.json'];
    const run = await generate('A cat.', '--task', 'text-to-image', ...tiny, ...outputs);
    expect(run.code).toBe(0);
    for (const name of ['cat.png', 'cat.jpg', 'cat.webp']) {
      expect(await decodeImage(path(name))).toMatchObject({ width: 64, height: 48 });
    }
    const metadata: { plan: { seed: number; task: string }; action: unknown } = JSON.parse(
      readFileSync(path('cat.json'), 'utf8'),
    );
    expect(metadata).toMatchObject({ plan: { seed: 7, task: 'text-to-image' }, action: null });
    const plan = await runCli(['plan', '--from', 'cat.png', '--json'], { cwd: folder });
    expect(JSON.parse(plan.stdout)).toEqual(JSON.parse(JSON.stringify({ ...metadata, action: undefined })));
  });

  test.concurrent('starts from a picture, with sound and latents', async () => {
    const outputs = ['-o', 'move.mp4', '-o', 'move.wav', '-o', 'move.safetensors'];
    const run = await generate('It moves.', '--image', 'picture.png', '--sound', ...tiny, ...outputs);
    expect(complaints(run)).toEqual([]);
    expect(run.code).toBe(0);
    expect(await probeVideo(path('move.mp4'))).toMatchObject({ frames: 5, hasSound: true });
    const wave = decodeWav(readFileSync(path('move.wav')));
    expect(wave.channels[0]).toHaveLength(Math.round((5 / 8) * wave.sampleRate));
    using latents = openSafetensors(path('move.safetensors'));
    expect(latents.tensors.get('vision')?.shape).toEqual([2, 3, 4, 8]);
    expect(latents.tensors.get('sound')?.shape[0]).toBeGreaterThan(0);
  });

  test.concurrent('follows a clip, and edges made from it', async () => {
    const [more, edges] = await Promise.all([
      generate('More.', '--video', 'clip.mp4', ...tiny, '-o', 'more.mp4'),
      generate(
        'Edges.',
        '--video',
        'clip.mp4',
        '--edge',
        '--extra-body',
        '{"resolution": "256"}',
        ...tiny,
        '-o',
        'edges.mp4',
      ),
    ]);
    expect(more.stdout).toMatch(/^more\.mp4 {2}video-to-video, 64x48, 5 frames/m);
    expect(edges.stdout).toMatch(/^edges\.mp4 {2}transfer, 320x256, 5 frames, 12 fps/m);
  });

  test.concurrent('predicts, rolls out and recovers actions', async () => {
    const action = [
      '--domain-name',
      'av',
      '--num-frames',
      '9',
      '--num-inference-steps',
      '1',
      '--extra-body',
      '{"resolution": "256"}',
    ];
    const [policy, rollout, inverse] = await Promise.all([
      generate(
        'Drive.',
        '--image',
        'picture.png',
        '--action-mode',
        'policy',
        '--raw-action-dim',
        '9',
        ...action,
        '-o',
        'policy.json',
      ),
      generate(
        'Drive.',
        '--image',
        'picture.png',
        '--action-mode',
        'forward_dynamics',
        '--action',
        'actions.json',
        ...action,
        '-o',
        'roll.mp4',
      ),
      generate('--video', 'clip.mp4', '--action-mode', 'inverse_dynamics', '--raw-action-dim', '9', ...action),
    ]);
    expect(policy.code).toBe(0);
    const { action: predicted }: { action: { shape: number[]; data: number[][]; domain_id: number } } = JSON.parse(
      readFileSync(path('policy.json'), 'utf8'),
    );
    expect(predicted).toMatchObject({
      shape: [8, 9],
      dtype: 'float32',
      raw_action_dim: 9,
      action_mode: 'policy',
      domain_id: 1,
    });
    expect(predicted.data.flat().every(Number.isFinite)).toBe(true);
    expect(rollout.stdout).toMatch(/^roll\.mp4 {2}forward-dynamics/m);
    // Without -o the file is named after the prompt, or the task where there is none.
    expect(inverse.stdout).toMatch(/^inverse-dynamics\.json/m);
  });

  test.concurrent('warns and succeeds: unknown extra keys, a prompt of 100 000 words', async () => {
    // Words alone and a picture to write: text-to-image.
    const still = ['--size', '32x32', '--num-inference-steps', '1'];
    const key = await generate(
      'nsfw',
      ...still,
      '--extra-body',
      '{"flow_shfit": 3, "guidance_scale": 1, "guardrails": false}',
      '-o',
      'key.png',
    );
    expect(complaints(key)).toEqual(['warning: unknown parameter flow_shfit is ignored; did you mean flow_shift?']);
    expect(key.stdout).toMatch(/^key\.png {2}text-to-image, 32x32, seed /m);
    expect(key.code).toBe(0);
    const words = { prompt: 'word '.repeat(100_000), max_sequence_length: 32 };
    writeFileSync(path('words.json'), JSON.stringify(words));
    const long = await runCli(['plan', '--json', '--extra-body', '@words.json'], { cwd: folder });
    expect(long.code).toBe(0);
    expect(complaints(long).some((line) => /^warning: prompt has \d+ tokens; .* cut/.test(line))).toBe(true);
    const { plan }: { plan: { prompt: { tokens: number[]; truncated: boolean } } } = JSON.parse(long.stdout);
    expect(plan.prompt.truncated).toBe(true);
    expect(plan.prompt.tokens).toHaveLength(34);
  });

  test.concurrent('reports events as JSON lines', async () => {
    const run = await generate('A ball.', ...tiny, '--json', '-o', 'events.mp4');
    const events = run.stdout
      .trim()
      .split('\n')
      .map((line): { type: string; step?: number } => JSON.parse(line));
    expect(events.map(({ type }) => type).filter((type) => type !== 'phase')).toEqual([
      'plan',
      'step',
      'step',
      'artifact',
    ]);
    expect(events.at(-1)).toMatchObject({ files: [{ path: 'events.mp4', kind: 'mp4' }], frames: 5 });
    const failed = await generate('A ball.', '--num-frames', '0', '--json');
    expect(JSON.parse(failed.stdout)).toEqual({
      type: 'error',
      code: 'invalid_value',
      param: 'num_frames',
      message: '--num-frames must be a whole number of at least 1, got "0"',
    });
  });

  test.concurrent('writes to a pipe, says nothing when quiet', async () => {
    const run = await generate('A cat.', '--task', 'text-to-image', ...tiny, '-o', '-', '--quiet');
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(run.stdout.slice(1, 4)).toBe('PNG');
  });

  test('leaves nothing else behind', () => {
    expect(filesIn(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});
