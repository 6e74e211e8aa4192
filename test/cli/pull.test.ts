// `orrery pull`, and the download that `generate` does by itself, against a hub on loopback.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../architecture/source-tree.js';
import { type FakeFiles, FakeHub } from '../fake-hub.js';
import { complaints, runCli, temporaryFolder } from './run-cli.js';

const cwd = temporaryFolder();
const tiny = join(root, 'test/golden/data/tiny-nano');
let hub: FakeHub;

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

beforeAll(async () => {
  const files: FakeFiles = Object.fromEntries(
    filesBelow(tiny).map((path) => [relative(tiny, path), readFileSync(path)]),
  );
  hub = await FakeHub.start({ 'test/tiny': files });
  hub.token = 'hf_right';
});

afterAll(() => hub.stop());

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCli(args, { cwd, env: { HF_ENDPOINT: hub.endpoint, HF_HUB_OFFLINE: '0', HF_TOKEN: 'hf_right', ...env } });

describe('downloads', { timeout: 90_000 }, () => {
  test('generate fetches a repository once, and works offline from then on', async () => {
    const args = [
      'generate',
      'x',
      '--model',
      'test/tiny',
      '--size',
      '32x32',
      '--num-inference-steps',
      '1',
      '--threads',
      '1',
    ];
    const first = await run([...args, '-o', 'a.png']);
    expect(first.code).toBe(0);
    expect(hub.downloads.length).toBeGreaterThan(5);
    const offline = await run([...args, '-o', 'b.png'], { HF_HUB_OFFLINE: '1', HF_ENDPOINT: 'http://127.0.0.1:1' });
    expect(complaints(offline)).toEqual([]);
    expect(offline.code).toBe(0);
    // The repository's name is the model's in plans, and what repeats it.
    const { stdout } = await run(['plan', '--from', 'a.png', '--json'], { HF_HUB_OFFLINE: '1' });
    expect(JSON.parse(stdout)).toMatchObject({ plan: { model: 'test/tiny' }, inputs: { model: 'test/tiny' } });
  });

  test('pull takes patterns and folders', async () => {
    const { stdout, code } = await run(['pull', 'test/tiny', '--include', 'vae/*', '--local-dir', 'part', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ files: ['vae/config.json', 'vae/diffusion_pytorch_model.safetensors'] });
    const name = 'vae/diffusion_pytorch_model.safetensors';
    expect(readFileSync(join(cwd, 'part', name)).equals(readFileSync(join(tiny, name)))).toBe(true);
  });

  test.each([
    [['pull', 'test/tiny'], { HF_TOKEN: 'hf_wrong' }, /^error: .*401.*HF_TOKEN/],
    [
      ['pull', 'test/tiny'],
      { HF_HUB_OFFLINE: '1' },
      /^error: test\/tiny cannot be downloaded offline: unset HF_HUB_OFFLINE/,
    ],
    [['pull', 'test/none'], {}, /^error: .*test\/none/],
    [['pull', 'no repository'], {}, /^error: "no repository" is no repository id: write owner\/name/],
  ])('%j with %j fails in one line', async (args, env, message) => {
    const failed = await run([...args, '--local-dir', 'failed'], env);
    expect(complaints(failed)).toHaveLength(1);
    expect(complaints(failed)[0]).toMatch(message);
    // What cannot be a repository is a mistake of the caller's.
    expect(failed.code).toBe(args.includes('no repository') ? 2 : 1);
    expect(existsSync(join(cwd, 'failed/model_index.json'))).toBe(false);
  });
});
