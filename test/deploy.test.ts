// What deploys the server: the files it names are in the package, the image is not root's and can tell that it is well.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { serveFlags } from '../src/server/options/flags.js';
import { root } from './architecture/source-tree.js';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const flags = new Set(serveFlags.map(({ name }) => `--${name}`));

interface Packed {
  readonly name: string;
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

function pack(): Packed {
  const text = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [packed]: readonly Packed[] = JSON.parse(text);
  if (packed === undefined) throw new Error('npm packs nothing');
  return packed;
}

const packed = pack();
const inPackage = new Set(packed.files.map(({ path }) => path));

/** Instructions of a Dockerfile, continued lines joined. */
function instructions(text: string): readonly { readonly word: string; readonly rest: string }[] {
  const lines = text.replace(/\\\n\s*/g, ' ').split('\n');
  return lines.flatMap((line) => {
    const [, word, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    return word === undefined || rest === undefined ? [] : [{ word, rest }];
  });
}

describe('the package', () => {
  test.each([
    'dist/cli/main.js',
    'dist/engine/worker/worker-main.js',
    'dist/engine/worker/beat-thread.js',
    'dist/server/guard/guarded-worker.js',
    'dist/server/inputs/inspect-worker.js',
    'dist/cpu/kernels.wasm',
    'deploy/orrery.service',
    'deploy/Dockerfile',
    'docs/server.md',
    'docs/flags.md',
  ])('holds %s', (path) => expect(inPackage.has(path)).toBe(true));

  test('holds the checkpoint that is served without a model, and no test', () => {
    expect([...inPackage].some((path) => /^checkpoints\/.+\.safetensors$/.test(path))).toBe(true);
    expect([...inPackage].filter((path) => /\.test\.|^test\/|^src\//.test(path))).toEqual([]);
  });
});

describe('the image', () => {
  const all = instructions(read('deploy/Dockerfile'));
  const final = all.slice(all.findLastIndex(({ word }) => word === 'FROM'));
  const of = (word: string) => final.filter((instruction) => instruction.word === word).map(({ rest }) => rest);

  test('is built from what npm packs', () => {
    expect(all.some(({ word, rest }) => word === 'RUN' && rest.includes('npm pack'))).toBe(true);
    expect(of('COPY')).toEqual(['--from=build /tmp/orrery-*.tgz /tmp/']);
    expect(packed.filename).toMatch(/^orrery-.+\.tgz$/);
  });

  test('is not root’s, has ffmpeg, and a check that its own program answers', () => {
    expect(of('USER')).toEqual(['10001:10001']);
    const [installs = ''] = of('RUN');
    expect(installs).toMatch(/apt-get install -y --no-install-recommends .*\bffmpeg\b.*\bcurl\b/);
    expect(installs).toContain('rm -rf /var/lib/apt/lists/*');
    expect(of('HEALTHCHECK')).toEqual([expect.stringContaining('curl -fsS http://127.0.0.1:8000/health')]);
    expect(of('FROM')[0]).toMatch(/^node:\d+-bookworm-slim$/);
  });

  test('starts the server with flags that there are, on its volume', () => {
    const entry: readonly string[] = JSON.parse(of('ENTRYPOINT')[0] ?? '[]');
    expect(entry.slice(0, 2)).toEqual(['orrery', 'serve']);
    expect(entry.filter((part) => part.startsWith('--') && !flags.has(part))).toEqual([]);
    const [volume = ''] = of('VOLUME');
    expect(entry[entry.indexOf('--storage-path') + 1]?.startsWith(`${volume}/`)).toBe(true);
  });
});

describe('the systemd unit', () => {
  const unit = read('deploy/orrery.service');
  const [, command = ''] = /^ExecStart=(.+)$/m.exec(unit) ?? [];

  test('names flags and a page that there are', () => {
    expect(command).toContain('orrery serve');
    expect((command.match(/--[\w-]+/g) ?? []).filter((flag) => flag !== '--config' && !flags.has(flag))).toEqual([]);
    const [, page = ''] = /^Documentation=file:.*\/orrery\/(.+)$/m.exec(unit) ?? [];
    expect(inPackage.has(page)).toBe(true);
  });

  test('leaves more time to stop than a drain takes', () => {
    const fallback = Number(serveFlags.find(({ name }) => name === 'drain-timeout')?.fallback);
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(fallback);
  });

  test('has nothing that systemd objects to, where it is here to ask', () => {
    const { error, stdout, stderr } = spawnSync('systemd-analyze', ['verify', 'deploy/orrery.service'], {
      cwd: root,
      encoding: 'utf8',
    });
    if (error !== undefined) expect(error).toMatchObject({ code: 'ENOENT' });
    else expect(`${stdout}${stderr}`).toBe('');
  });
});
