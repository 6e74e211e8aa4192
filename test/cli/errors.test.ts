// Whatever is wrong with a request or a checkpoint: one line that names the value and the remedy, a code, and no file.
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { damages, makeBroken } from './broken-checkpoints.js';
import { complaints, filesIn, runCli, temporaryFolder } from './run-cli.js';
import { writeSamples } from './sample-media.js';

const folder = temporaryFolder();
const samples = join(folder, 'in');
const sample = (name: string) => join(samples, name);

beforeAll(async () => {
  mkdirSync(samples);
  await writeSamples(samples);
});

let count = 0;

/** Runs `generate` where nothing may be left behind; the message must match every pattern. */
async function expectFailure(args: readonly string[], code: number, patterns: readonly RegExp[]): Promise<void> {
  const cwd = join(folder, `run-${count++}`);
  mkdirSync(cwd);
  const given = args.includes('-o') ? args : [...args, '-o', 'out.mp4'];
  const run = await runCli(['generate', ...given], { cwd });
  const lines = complaints(run);
  expect(lines).toHaveLength(1);
  const [line = ''] = lines;
  expect(line).toMatch(/^error: /);
  for (const pattern of patterns) expect(line).toMatch(pattern);
  expect(run.stdout).toBe('');
  expect(run.code).toBe(code);
  expect(filesIn(cwd)).toEqual([]);
}

interface Row {
  readonly what: string;
  readonly args: () => readonly string[];
  readonly says: readonly RegExp[];
}

const policy = ['--action-mode', 'policy', '--domain-name', 'av', '--raw-action-dim', '9', '--num-frames', '9'];
const forward = ['--action-mode', 'forward_dynamics', '--domain-name', 'av', '--num-frames', '9', '--image'];

const rows: readonly Row[] = [
  { what: 'a missing file', args: () => ['x', '--image', 'nowhere.png'], says: [/nowhere\.png/, /not found/i] },
  { what: 'text named .png', args: () => ['x', '--image', sample('notes.png')], says: [/notes\.png/, /text/, /PNG/] },
  {
    what: 'a truncated clip',
    args: () => ['x', '--video', sample('cut.mp4')],
    says: [/cut\.mp4/, /cut short/, /whole file/],
  },
  { what: 'a size of 0x0', args: () => ['x', '--size', '0x0'], says: [/0x0/, /positive/] },
  { what: 'a size of 100001x100001', args: () => ['x', '--size', '100001x100001'], says: [/100001x100001/, /at most/] },
  { what: 'a size that is none', args: () => ['x', '--size', 'big'], says: [/--size/, /big/, /1280x720/] },
  {
    what: 'a negative frame count',
    args: () => ['x', '--num-frames', '-5'],
    says: [/--num-frames/, /-5/, /at least 1/],
  },
  { what: 'a fractional frame count', args: () => ['x', '--num-frames', '4.5'], says: [/4\.5/, /whole number/] },
  { what: '0 steps', args: () => ['x', '--num-inference-steps', '0'], says: [/got "0"/, /from 1 to 200/] },
  { what: '-1 steps', args: () => ['x', '--num-inference-steps', '-1'], says: [/-1/, /from 1 to 200/] },
  { what: '10 000 steps', args: () => ['x', '--num-inference-steps', '10000'], says: [/10000/, /from 1 to 200/] },
  {
    what: 'guidance NaN',
    args: () => ['x', '--guidance-scale', 'NaN'],
    says: [/--guidance-scale/, /NaN/, /from 0 to 20/],
  },
  {
    what: 'image and video together',
    args: () => ['x', '--image', sample('picture.png'), '--video', sample('clip.mp4')],
    says: [/image/, /video/, /not both/],
  },
  {
    what: 'inverse dynamics without a video',
    args: () => ['x', '--action-mode', 'inverse_dynamics', '--domain-name', 'av', '--raw-action-dim', '9'],
    says: [/inverse/, /video/],
  },
  {
    what: 'actions of the wrong width',
    args: () => ['x', ...forward, sample('picture.png'), '--raw-action-dim', '9', '--action', sample('narrow.json')],
    says: [/action/, /4/, /9/],
  },
  {
    what: 'ragged actions',
    args: () => ['x', ...forward, sample('picture.png'), '--action', sample('ragged.json')],
    says: [/different lengths/, /row 0 has 3/, /row 1 has 2/],
  },
  {
    what: 'actions with NaN',
    args: () => ['x', ...forward, sample('picture.png'), '--action', sample('nan.json')],
    says: [/nan\.json/, /NaN/, /finite/],
  },
  {
    what: 'an unknown domain',
    args: () => ['x', ...policy, '--domain-name', 'moonbase', '--image', sample('picture.png')],
    says: [/moonbase/, /droid_lerobot/],
  },
  {
    what: 'an unknown hint field',
    args: () => ['x', '--extra-body', '{"edge": {"control_pth": "a"}}', '--video', sample('clip.mp4')],
    says: [/control_pth/, /did you mean control_path/],
  },
  {
    what: 'an extra body that is no JSON',
    args: () => ['x', '--extra-body', '{flow_shift: 3}'],
    says: [/not valid JSON/, /\{flow_shift: 3\}/, /quote/],
  },
  { what: 'an extra body that is no object', args: () => ['x', '--extra-body', '[1]'], says: [/JSON object/, /\[1\]/] },
  {
    what: 'an unknown extra key with --strict',
    args: () => ['x', '--strict', '--extra-body', '{"flow_shfit": 3}'],
    says: [/flow_shfit/, /did you mean flow_shift/],
  },
  {
    what: 'an output in a folder that is not there',
    args: () => ['x', '-o', 'no/such/out.mp4'],
    says: [/no\/such\/out\.mp4/, /create it/],
  },
  { what: 'an output of unknown kind', args: () => ['x', '-o', 'out.avi'], says: [/out\.avi/, /\.mp4/] },
  {
    what: 'a picture of a clip',
    args: () => ['x', '--num-frames', '5', '-o', 'out.png'],
    says: [/out\.png/, /5 frames/, /\.mp4/],
  },
  { what: 'sound that nobody asked for', args: () => ['x', '-o', 'out.wav'], says: [/out\.wav/, /--sound/] },
  { what: 'an unknown device', args: () => ['x', '--device', 'cpuu'], says: [/cpuu/, /did you mean cpu/] },
  {
    what: 'a prompt that the guardrails refuse',
    args: () => ['nsfw'],
    says: [/blocked/, /guardrails/, /--extra-body/],
  },
  { what: 'no prompt', args: () => [], says: [/prompt is missing/] },
  { what: 'two prompts', args: () => ['x', '--prompt', 'y'], says: [/twice/] },
  {
    what: 'a file to repeat that carries no plan',
    args: () => ['--from', sample('picture.png')],
    says: [/picture\.png/, /carries no plan/],
  },
];

describe('a request that cannot be served', { timeout: 90_000 }, () => {
  test.concurrent.each(rows.map((row) => [row.what, row] as const))('%s', async (_, { args, says }) => {
    await expectFailure(args(), 2, says);
  });
});

describe('a checkpoint that is broken', { timeout: 90_000 }, () => {
  const remedies: Readonly<Record<keyof typeof damages, readonly RegExp[]>> = {
    missingTensor: [/norm_moe_gen\.weight/, /no such tensor/],
    misshapedTensor: [/norm_moe_gen\.weight/, /\[64, 1\]|bytes/],
    truncatedTensor: [/diffusion_pytorch_model\.safetensors/, /1000000/],
    absentShard: [/model-00002-of-00002\.safetensors/],
    contradictingConfig: [/num_key_value_heads/, /3/, /divisor/],
    absentPart: [/vae/, /missing/],
  };

  test.concurrent.each(Object.entries(remedies))('%s', async (damage, patterns) => {
    const name = Object.keys(damages).find((key): key is keyof typeof damages => key === damage);
    if (name === undefined) throw new Error(`no damage ${damage}`);
    const checkpoint = makeBroken(join(folder, `checkpoint-${name}`), name);
    const args = ['x', '--model', checkpoint, '--size', '32x32', '--num-frames', '1', '--threads', '1'];
    await expectFailure(args, 1, patterns);
  });

  test.concurrent('one that is not there', async () => {
    await expectFailure(['x', '--model', './nowhere'], 2, [/nowhere/, /no such file/, /owner\/name/]);
  });

  test.concurrent('one that would have to be downloaded offline', async () => {
    await expectFailure(['x', '--model', 'nvidia/Cosmos3-Nano'], 1, [/nvidia\/Cosmos3-Nano/, /orrery pull/]);
  });
});

describe('an output folder that cannot be written', () => {
  test('is refused before any work', async () => {
    const cwd = join(folder, 'locked');
    mkdirSync(cwd);
    chmodSync(cwd, 0o555);
    // The superuser may write anywhere; a file system without room for anyone is as good.
    const target = process.getuid?.() === 0 ? '/proc/out.mp4' : join(cwd, 'out.mp4');
    const run = await runCli(['generate', 'x', '-o', target, '--size', '32x32', '--num-frames', '1'], { cwd: folder });
    const [line = ''] = complaints(run);
    expect(complaints(run)).toHaveLength(1);
    expect(line).toContain(target);
    expect(line).toMatch(/not writable|Cannot write|cannot be written/);
    expect(run.code).not.toBe(0);
    expect(filesIn(cwd)).toEqual([]);
  });
});
