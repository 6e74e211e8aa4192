// `orrery dump`, `orrery convert` and `orrery denoise`, one after the other, and what they say when something is wrong.
import type { ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openSafetensors } from '../../src/weights/index.js';
import { root } from '../architecture/source-tree.js';
import { type CliRun, complaints, filesIn, runCli, temporaryFolder } from './run-cli.js';

const cwd = temporaryFolder();
const micro = join(root, 'checkpoints/micro');
const run = (...args: string[]) => runCli(args, { cwd, env: { ORRERY_DEVICE: 'cpu', ORRERY_THREADS: '1' } });
const notProgress = (done: CliRun) => complaints(done).filter((line) => !line.startsWith('convert '));

let dumped: CliRun;
let converted: CliRun;

beforeAll(async () => {
  // 96x80 pixels are 6x5 latents: an odd number of rows.
  const size = ['--size', '96x80', '--num-frames', '9'];
  const prompt = 'A red ball rolls to the right.';
  dumped = await run('dump', prompt, '--model', micro, ...size, '--seed', '5', '-o', 'tensors.safetensors');
  converted = await run('convert', micro, '-o', 'flat.safetensors');
}, 90_000);

describe('from a prompt to its latent again', { timeout: 90_000 }, () => {
  test('a dump has the keys of the original, and says what it is', () => {
    expect(dumped.stdout).toMatch(
      /^tensors\.safetensors {2}96x80, 9 frames, \d+ text and 27 vision tokens, 10 steps, seed 5\n$/,
    );
    expect(dumped.code).toBe(0);
    using file = openSafetensors(join(cwd, 'tensors.safetensors'));
    const steps = Array.from({ length: 10 }, (_, i) => `s0${i}/timestep_emb`);
    const once = ['und_in', 'rope_und_cos', 'rope_und_sin', 'rope_gen_cos', 'rope_gen_sin', 'final_vision_latent__0'];
    const keys = [...once.map((key) => `once/${key}`), 's00/gen_in', 's00/vae2llm_in', ...steps];
    expect([...file.tensors.keys()].filter((key) => !key.startsWith('meta/')).sort()).toEqual(keys.sort());
    expect(file.tensors.get('once/final_vision_latent__0')?.shape).toEqual([1, 16, 3, 5, 6]);
    expect(file.tensors.get('s00/vae2llm_in')?.shape).toEqual([27, 64]);
  });

  test('the flat file is written and what it leaves out is named', () => {
    expect(converted).toMatchObject({ code: 0, stdout: expect.stringMatching(/flat, 137 tensors, 10\.3 MiB\n$/) });
    expect(notProgress(converted)).toEqual([
      expect.stringMatching(/^left out, .*: action_modality_embed, .*norm\.weight/),
    ]);
  });

  test.concurrent('denoise prints the four lines of the original, and reproduces the dump', async () => {
    const done = await run('denoise', '--checkpoint', 'flat.safetensors', '--ref', 'tensors.safetensors');
    const lines = done.stdout.trimEnd().split('\n');
    expect(lines).toEqual([
      expect.stringMatching(/^\[cosmos3_video\] load_model \+ set_prompt wall=\d+\.\d\ds$/),
      expect.stringMatching(/^\[cosmos3_video\] denoise \d+\.\d ms {2}quant=f32 {2}teacache_skip=\[\]$/),
      '[cosmos3_video] latent (1, 16, 3, 5, 6)',
      '[cosmos3_video] latent cos 1.00000  rel_l2 0.000%  (vs official reference)',
    ]);
    expect(notProgress(done)).toEqual(['warning: cpu has no FP8: computing in float32']);
    expect(done.code).toBe(0);
  });

  test.concurrent('the list of skipped steps is echoed as it was given; what does nothing is said', async () => {
    const flags = ['--teacache-skip', '3, 5,7,9', '--shift', '5', '--bf16'];
    const done = await run('denoise', '--checkpoint', micro, '--ref', 'tensors.safetensors', ...flags);
    expect(done.stdout).toContain('  teacache_skip=[3, 5,7,9]\n');
    expect(notProgress(done)).toEqual([
      'warning: cpu computes in float32, wider than bfloat16',
      'warning: the skip list has entries that do nothing: 9 (the last step is always computed)',
      expect.stringMatching(/^warning: shift 5 is not the dump's: .*; give --shift 10$/),
    ]);
    expect(done.code).toBe(0);
  });

  test.concurrent('--json gives one object, -o the latent', async () => {
    const flags = ['--teacache-skip', '3,5,7', '--json', '-o', 'latent.safetensors'];
    const done = await run('denoise', '--checkpoint', 'flat.safetensors', '--ref', 'tensors.safetensors', ...flags);
    const result: { cos: number; rel_l2: number } = JSON.parse(done.stdout);
    expect(result).toMatchObject({ quant: 'f32', teacache_skip: [3, 5, 7], shift: 10, latent_shape: [1, 16, 3, 5, 6] });
    expect(result.cos).toBeGreaterThan(0.981);
    expect(result.rel_l2).toBeLessThan(0.194);
    using file = openSafetensors(join(cwd, 'latent.safetensors'));
    expect(file.tensors.get('latent')?.shape).toEqual([1, 16, 3, 5, 6]);
  });
});

describe('mistakes', { timeout: 90_000 }, () => {
  const both = ['--checkpoint', 'flat.safetensors', '--ref', 'tensors.safetensors'];
  test.concurrent.each([
    [['denoise', '--ref', 'x'], 2, /^error: required option '--checkpoint <path>' not specified/],
    [
      ['denoise', ...both, '--fp8'],
      2,
      /^error: FP8 needs an NVIDIA GPU of compute capability 8\.9 or newer, this is cpu/,
    ],
    [['denoise', ...both, '--shift', 'ten'], 2, /^error: --shift must be a number above 0, got ten/],
    [['denoise', '--checkpoint', 'none', '--ref', 'x'], 1, /^error: none: no such file or folder/],
    [
      ['denoise', '--checkpoint', 'tensors.safetensors', '--ref', 'x'],
      1,
      /keys missing: .*layers\.0\.mlp\.up_proj\.weight/,
    ],
    [['dump', 'A ball.', '-o', 'x.bin'], 2, /^error: output x\.bin must end in \.safetensors/],
    [['convert', 'flat.safetensors', '-o', 'x.safetensors'], 2, /must be a folder: the diffusers layout is one/],
  ])('%j', async (args, code, message) => {
    const done = await run(...args);
    const last = done.stderr.trim().split('\n').at(-1);
    expect(last).toMatch(message);
    expect({ code: done.code, stdout: done.stdout }).toEqual({ code, stdout: '' });
  });

  test.concurrent('a dump that lacks keys is refused with all their names', async () => {
    const done = await run('denoise', '--checkpoint', 'flat.safetensors', '--ref', 'flat.safetensors');
    for (const key of [
      'once/und_in',
      'once/rope_gen_sin',
      'once/final_vision_latent__0',
      's00/gen_in',
      's00/timestep_emb',
    ])
      expect(done.stderr).toContain(key);
    expect(done.code).toBe(1);
  });
});

describe('Ctrl-C', { timeout: 90_000 }, () => {
  const long = ['--size', '96x80', '--num-frames', '9', '--num-inference-steps', '200'];
  // Half a minute at least: the signal comes with the first line of progress, whatever the machine.
  const longer = ['--size', '320x192', '--num-frames', '25', '--num-inference-steps', '200'];
  const env = { ORRERY_DEVICE: 'cpu', ORRERY_THREADS: '1' };
  const stop = (child: ChildProcess) => child.stderr?.once('data', () => child.kill('SIGINT'));

  test.each([
    ['dump', ['dump', 'A ball.', '--model', micro, ...longer, '-o', 'x.safetensors']],
    ['denoise', ['denoise', '--checkpoint', micro, '--ref', '../long.safetensors', '-o', 'x.safetensors']],
  ])('stops %s between steps and leaves nothing', async (name, args) => {
    const folder = join(cwd, name);
    mkdirSync(folder);
    if (name === 'denoise') await run('dump', 'A ball.', '--model', micro, ...long, '-o', 'long.safetensors');
    const done = await runCli(args, { cwd: folder, env, onStart: stop });
    expect(done.code).toBe(130);
    // The step under way may still report itself between the two.
    const said = done.stderr.trim().split('\n');
    expect(said.filter((line) => line.startsWith('stopping after'))).toHaveLength(1);
    expect(said.at(-1)).toBe('stopped');
    expect(filesIn(folder)).toEqual([]);
  });
});
