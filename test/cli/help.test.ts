// Help, versions, suggestions, and the commands that only look.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { renderHelpPage } from '../../src/cli/help-page.js';
import { root } from '../architecture/source-tree.js';
import { runCli, temporaryFolder } from './run-cli.js';

const cwd = temporaryFolder();
const run = (...args: string[]) => runCli(args, { cwd });

describe('help', { timeout: 90_000 }, () => {
  test.concurrent('names every command', async () => {
    const { stdout, code } = await run('--help');
    expect(code).toBe(0);
    for (const name of ['generate', 'plan', 'pull', 'inspect', 'doctor', 'parity', 'bench']) {
      expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    }
  });

  test.concurrent('of a command is what its --help says', async () => {
    expect(await run('help', 'pull')).toEqual(await run('pull', '--help'));
    expect(await run('help')).toEqual(await run('--help'));
  });

  test('commands have examples', () => {
    const page = renderHelpPage();
    for (const name of ['generate', 'plan', 'pull', 'inspect', 'doctor', 'parity', 'bench']) {
      expect(page).toMatch(new RegExp(`Examples?:\n {2}orrery ${name}`));
    }
  });

  test('docs/cli.md is what --help says (node scripts/cli-docs.mjs writes it)', () => {
    expect(readFileSync(join(root, 'docs/cli.md'), 'utf8')).toBe(renderHelpPage());
  });

  test.concurrent('generate has the flags of the offline examples', async () => {
    const { stdout } = await run('generate', '--help');
    const flags =
      'model prompt negative-prompt image video height width size num-frames fps num-inference-steps guidance-scale flow-shift seed sound sound-duration extra-body strict output task dry-run quiet json from';
    for (const flag of flags.split(' ')) expect(stdout).toContain(`--${flag}`);
  });

  test.concurrent('the version is the package’s', async () => {
    const manifest: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(await run('--version')).toMatchObject({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });
});

describe('mistakes', { timeout: 90_000 }, () => {
  test.concurrent.each([
    [['generate', 'x', '--hieght', '3'], /^error: unknown option '--hieght' \(Did you mean --height\?\)/],
    [['genrate'], /^error: unknown command 'genrate' \(Did you mean generate\?\)/],
    [['genrate', '--help'], /^error: unknown command 'genrate' \(Did you mean generate\?\)/],
    [['help', 'genrate'], /^error: unknown command 'genrate' \(Did you mean generate\?\)/],
    [['pull'], /^error: missing required argument 'repository'/],
    [['generate', 'x', '--quantization', 'nvfp4'], /^error: --quantization nvfp4 has no kernels here: .*; use fp8/],
    [['serve', '--quantization', 'nvfp4'], /^error: --quantization nvfp4 has no kernels here: .*; use fp8/],
    [['serve', 'nowhere', '--port', '0'], /^error: nowhere: no such file or folder; check the path/],
    [['serve', '--port', '0', '--lora-path', 'nowhere'], /^error: --lora-path .*nowhere: no such LoRA file or folder/],
    [['generate', 'x', '--lora-path', 'nowhere'], /^error: --lora-path nowhere: no such LoRA file or folder/],
    [['generate', 'x', '--lora-scale', '1'], /^error: --lora-scale says nothing without an adapter; add --lora-path/],
    [['plan', 'x', '--lora-path', 'a', '--lora-scale', 'big'], /^error: --lora-scale must be a number, got "big"/],
    [['convert', '-o', 'x.safetensors', '--lora-path', 'nowhere'], /^error: --lora-path nowhere: no such LoRA file/],
    [['pull', 'nope'], /^error: "nope" is no repository id: write owner\/name/],
    [['bench', '--synthetic', 'nano', '--seconds', '1'], /^error: --seconds says nothing of a job; leave it out/],
    [['bench', '--size', '64x64', '--threads', '1,2'], /^error: --threads must be a whole number above 0, got 1,2/],
    [['generate', '--num-frames'], /^error: option '--num-frames <N>' argument missing/],
  ])('%j', async (args, message) => {
    const { code, stderr, stdout } = await run(...args);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });
});

test('a wrong flag beside --json is a JSON line too', { timeout: 90_000 }, async () => {
  const { code, stdout, stderr } = await run('generate', 'x', '--json', '--hieght', '3');
  expect(JSON.parse(stdout)).toEqual({
    type: 'error',
    message: "unknown option '--hieght' (Did you mean --height?)",
  });
  expect(stderr).toMatch(/^error: unknown option '--hieght'/);
  expect(code).toBe(2);
});

describe('commands that only look', { timeout: 90_000 }, () => {
  test.concurrent('plan prints counts, cost and memory, and draws no result', async () => {
    const { stdout, code } = await run('generate', 'A ball.', '--dry-run', '--seed', '1');
    expect(code).toBe(0);
    const plan: {
      hash: string;
      tokens: { text: number; vision: number };
      memoryBytes: number;
      flops: { total: number };
    } = JSON.parse(stdout);
    expect(plan.hash).toMatch(/^[0-9a-f]{64}$/);
    // 192x128 is 12x8 latents in patches of 2x2; 17 frames are 5 latent frames.
    expect(plan.tokens.vision).toBe(5 * 6 * 4);
    expect(plan.tokens.text).toBeGreaterThan(5);
    expect(plan.memoryBytes).toBeGreaterThan(4e6);
    expect(plan.flops.total).toBeGreaterThan(1e9);
    const again = await run('plan', 'A ball.', '--seed', '1', '--json');
    expect(JSON.parse(again.stdout)).toEqual(plan);
  });

  test.concurrent('inspect counts parameters', async () => {
    const { stdout, code } = await run('inspect', join(root, 'test/golden/data/tiny-nano'), '--json');
    expect(code).toBe(0);
    const {
      parts,
      parameters,
      problem,
    }: {
      parts: { name: string; parameters: number; tensors: { shape: number[] }[] }[];
      parameters: number;
      problem: null;
    } = JSON.parse(stdout);
    expect(parts.map(({ name }) => name).sort()).toEqual([
      'scheduler',
      'sound_tokenizer',
      'text_tokenizer',
      'transformer',
      'vae',
    ]);
    const count = parts
      .flatMap(({ tensors }) => tensors)
      .reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0);
    expect(count).toBe(parameters);
    expect(problem).toBeNull();
  });

  test.concurrent('doctor says what it found', async () => {
    const { stdout, code } = await run('doctor', '--json');
    const findings: { name: string; status: string; value: string; remedy: string | null }[] = JSON.parse(stdout);
    const missing = findings.filter(({ status }) => status === 'missing');
    expect(code).toBe(missing.length === 0 ? 0 : 1);
    for (const name of ['node', 'platform', 'cpu', 'simd', 'blas', 'ffmpeg', 'checkpoint', 'cache', 'memory']) {
      expect(findings.find((finding) => finding.name === name)?.value).toMatch(/\w/);
    }
    expect(findings.find(({ name }) => name === 'node')?.value).toBe(process.versions.node);
    // A GPU, whole or in parts, or how to get one.
    expect(
      findings.filter(({ name }) => name.startsWith('gpu')).map(({ value, remedy }) => remedy ?? value),
    ).toContainEqual(expect.stringMatching(/CUDA \d|apt-get install nvidia-driver|pip install nvidia-/));
  });
});
