// Downloads from a hub that misbehaves.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FakeFiles, FakeHub } from '../../../test/fake-hub.js';
import { resolveCheckpoint } from '../resolve-checkpoint.js';
import { compilePattern } from './file-patterns.js';
import { HubError } from './hub-error.js';
import { type PullOptions, type PullProgress, pullRepository } from './pull.js';

const text = (value: string) => new TextEncoder().encode(value);
const bigWeights = new Uint8Array(randomBytes(300_000));
const files: FakeFiles = {
  'model_index.json': text(
    '{"transformer": ["diffusers", "T"], "vae": ["diffusers", "V"], "text_tokenizer": ["t", "T"]}',
  ),
  'README.md': text('words'),
  'transformer/config.json': text('{"hidden_size": 1}'),
  'transformer/diffusion_pytorch_model.safetensors': bigWeights,
  'vae/config.json': text('{}'),
  'vae/diffusion_pytorch_model.safetensors': text('vae'),
  'text_tokenizer/tokenizer.json': text('{}'),
  'text_tokenizer/empty file.txt': text(''),
  'vision_encoder/model.safetensors': text('see'),
};
const repo = 'nvidia/Cosmos3-Test';
const bigPath = 'transformer/diffusion_pytorch_model.safetensors';
const bigSha = createHash('sha256').update(bigWeights).digest('hex');

let hub: FakeHub;
let place = '';
let options: PullOptions;
let blobs = '';
let partial = '';

beforeEach(async () => {
  hub = await FakeHub.start({ [repo]: files });
  place = mkdtempSync(join(tmpdir(), 'orrery-hub-'));
  options = { cacheDir: place, endpoint: hub.endpoint, retryDelay: 1 };
  blobs = join(place, 'models--nvidia--Cosmos3-Test', 'blobs');
  partial = join(blobs, `${bigSha}.incomplete`);
});
afterEach(async () => {
  await hub.stop();
  rmSync(place, { recursive: true, force: true });
});

const big = { include: [bigPath] };
const bigDownloads = () => hub.downloads.filter(({ path }) => path.endsWith(bigPath));
const failure = async (pull: Promise<unknown>): Promise<HubError> => {
  const error = await pull.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HubError)) throw new Error(`expected a HubError, got ${String(error)}`);
  return error;
};

describe('pullRepository', () => {
  it('lays files out in the standard cache, and fetches nothing twice', async () => {
    const print = vi.spyOn(console, 'debug');
    const pulled = await pullRepository(repo, options);
    expect(pulled.folder).toBe(join(place, 'models--nvidia--Cosmos3-Test', 'snapshots', hub.commit));
    expect(pulled.files).toHaveLength(8);
    expect(pulled.files).not.toContain('vision_encoder/model.safetensors');
    const pointer = join(pulled.folder, bigPath);
    expect(readlinkSync(pointer)).toBe(`../../../blobs/${bigSha}`);
    for (const path of pulled.files) {
      expect(readFileSync(join(pulled.folder, path)).equals(Buffer.from(files[path] ?? []))).toBe(true);
    }
    // The git id of `{}`, which two files share as one blob.
    expect(existsSync(join(blobs, '9e26dfeeb6e641a33dae4961196235bdb965b21b'))).toBe(true);
    expect(readFileSync(join(blobs, '..', 'refs', 'main'), 'utf8')).toBe(hub.commit);
    expect(readdirSync(blobs).filter((name) => /lock|incomplete/.test(name))).toEqual([]);
    const before = hub.downloads.length;
    await pullRepository(repo, { ...options, revision: 'v1' });
    expect(hub.downloads).toHaveLength(before);
    expect(readFileSync(join(blobs, '..', 'refs', 'v1'), 'utf8')).toBe(hub.commit);
    expect(print).not.toHaveBeenCalled();
  });

  it('goes on where the connection broke off', async () => {
    hub.cuts.push(100_000, 50_000, 1);
    await pullRepository(repo, { ...options, ...big });
    expect(bigDownloads().map(({ range }) => range)).toEqual([
      undefined,
      'bytes=100000-',
      'bytes=150000-',
      'bytes=150001-',
    ]);
    expect(readFileSync(join(blobs, bigSha)).equals(bigWeights)).toBe(true);
  });

  it('keeps what it has when it gives up, and goes on the next time', async () => {
    hub.cuts.push(120_000, 0, 0);
    const error = await failure(pullRepository(repo, { ...options, ...big, attempts: 3 }));
    expect(error.failure).toBe('network');
    expect(error.message).toMatch(
      /^nvidia\/Cosmos3-Test\/transformer\/.*: no connection to http:\/\/127.0.0.1:\d+ \(.+\); check the network/,
    );
    expect(readFileSync(partial)).toHaveLength(120_000);
    await pullRepository(repo, { ...options, ...big });
    expect(bigDownloads().at(-1)?.range).toBe('bytes=120000-');
    expect(readFileSync(join(blobs, bigSha)).equals(bigWeights)).toBe(true);
  });

  it('starts over when the hub ignores ranges, and when a partial file is too long', async () => {
    hub.ignoresRanges = true;
    hub.cuts.push(100_000);
    await pullRepository(repo, { ...options, ...big });
    expect(readFileSync(join(blobs, bigSha)).equals(bigWeights)).toBe(true);
    rmSync(join(blobs, bigSha));
    writeFileSync(partial, new Uint8Array(300_001));
    await pullRepository(repo, { ...options, ...big });
    expect(readFileSync(join(blobs, bigSha)).equals(bigWeights)).toBe(true);
  });

  it('removes a file with a wrong checksum and tries once more', async () => {
    hub.lies.set(bigPath, 1);
    await pullRepository(repo, { ...options, ...big });
    expect(bigDownloads()).toHaveLength(2);
    expect(readFileSync(join(blobs, bigSha)).equals(bigWeights)).toBe(true);
    rmSync(join(blobs, bigSha));
    hub.lies.set(bigPath, 2);
    const error = await failure(pullRepository(repo, { ...options, ...big }));
    expect(error.failure).toBe('checksum');
    expect(error.message).toContain(`the hub lists ${bigSha}`);
    expect(readdirSync(blobs)).toEqual([]);
  });

  it('finds a damaged partial file out', async () => {
    mkdirSync(blobs, { recursive: true });
    writeFileSync(partial, new Uint8Array(1000));
    await pullRepository(repo, { ...options, ...big });
    expect(bigDownloads().map(({ range }) => range)).toEqual(['bytes=1000-', undefined]);
  });

  it('checks small files by their git id', async () => {
    hub.lies.set('README.md', 2);
    expect((await failure(pullRepository(repo, { ...options, include: ['README.md'] }))).message).toMatch(
      /README.md: its git-blob is/,
    );
  });

  it('waits when limited, and gives up with the reason', async () => {
    hub.refusals.push({ status: 429, headers: { 'retry-after': '0' } }, { status: 503 });
    await pullRepository(repo, { ...options, ...big });
    hub.refusals.push(...Array.from({ length: 2 }, () => ({ status: 429 })));
    const error = await failure(pullRepository(repo, { ...options, ...big, attempts: 2 }));
    expect([error.failure, error.message]).toEqual([
      'server',
      `${repo}: the hub answered 429; the hub is limiting requests: wait, or set HF_TOKEN`,
    ]);
  });

  it('sends the token to the hub and not to where it redirects', async () => {
    hub.token = 'secret';
    const without = await failure(pullRepository(repo, options));
    expect(without.failure).toBe('unauthorized');
    expect(without.message).toMatch(
      /needs a login or does not exist \(401\): check the name; set HF_TOKEN if it is private or gated/,
    );
    const wrong = await failure(pullRepository(repo, { ...options, token: 'wrong' }));
    expect(wrong.message).toMatch(/the token given was refused: check HF_TOKEN/);
    expect(wrong.message).not.toContain('wrong;');
    hub.requests.length = 0;
    await pullRepository(repo, { ...options, ...big, token: 'secret' });
    expect(
      hub.requests.filter(({ path }) => path.startsWith('/cdn/')).map(({ authorization }) => authorization),
    ).toEqual([undefined]);
    expect(hub.downloads[0]?.authorization).toBe('Bearer secret');
  });

  it('names the licence page of a gated repository', async () => {
    hub.refusals.push({ status: 403, headers: { 'x-error-code': 'GatedRepo' } });
    const error = await failure(pullRepository(repo, options));
    expect(error.failure).toBe('gated');
    expect(error.message).toBe(
      `${repo} is gated (403): accept its licence at ${hub.endpoint}/${repo}, then set HF_TOKEN to a token of that account`,
    );
  });

  it('names what does not exist', async () => {
    expect((await failure(pullRepository('nvidia/Absent', options))).message).toBe(
      `nvidia/Absent does not exist at ${hub.endpoint} (404): check the name and the revision`,
    );
    expect((await failure(pullRepository(repo, { ...options, revision: 'v9' }))).message).toMatch(
      /^nvidia\/Cosmos3-Test at v9 does not exist/,
    );
    expect((await failure(pullRepository(repo, { ...options, include: ['*.gguf'] }))).message).toBe(
      `no file of ${repo} matches ["*.gguf"]; it has 9 files`,
    );
    for (const id of ['one', 'a/b/c', '../x', 'a/..', 'a/b--c'])
      expect((await failure(pullRepository(id, options))).failure).toBe('invalid');
    expect((await failure(pullRepository(repo, { ...options, revision: '../../x' }))).failure).toBe('invalid');
  });

  it('says that there is no network', async () => {
    const error = await failure(pullRepository(repo, { ...options, endpoint: 'http://127.0.0.1:1', attempts: 2 }));
    expect(error.failure).toBe('network');
    expect(error.message).toMatch(
      /^nvidia\/Cosmos3-Test: no connection to http:\/\/127.0.0.1:1 \(.*\); check the network/,
    );
  });

  it('notices silence', async () => {
    hub.slow = { bytes: 100_000, pauseMs: 3000 };
    const pull = pullRepository(repo, { ...options, ...big, stallTimeout: 300, attempts: 1 });
    expect((await failure(pull)).message).toMatch(/no data for 0.3 s/);
  });

  it('refuses what the disk has no room for, before and during the download', async () => {
    hub.listedSizes.set(bigPath, 2 ** 55);
    const early = await failure(pullRepository(repo, { ...options, ...big }));
    expect(early.failure).toBe('disk-full');
    expect(early.message).toMatch(
      /^nvidia\/Cosmos3-Test needs 33554432.0 GiB more, .* GiB free; free some, or set HF_HOME or --local-dir/,
    );
    expect(bigDownloads()).toEqual([]);
    hub.listedSizes.clear();
    if (!existsSync('/dev/full')) return;
    mkdirSync(blobs, { recursive: true });
    symlinkSync('/dev/full', partial);
    const late = await failure(pullRepository(repo, { ...options, ...big }));
    expect(late.message).toMatch(/no space left for 300000 more bytes at .*incomplete; free some/);
  });

  it('stops when told to and keeps what it has', async () => {
    hub.slow = { bytes: 50_000, pauseMs: 50 };
    const controller = new AbortController();
    const onProgress = ({ bytes }: PullProgress) => {
      if (bytes >= 50_000) controller.abort(new Error('enough'));
    };
    await expect(pullRepository(repo, { ...options, ...big, signal: controller.signal, onProgress })).rejects.toThrow(
      'enough',
    );
    expect(lstatSync(partial).size).toBeGreaterThanOrEqual(50_000);
    expect(readdirSync(blobs)).toEqual([`${bigSha}.incomplete`]);
    await expect(pullRepository(repo, { ...options, signal: AbortSignal.abort(new Error('at once')) })).rejects.toThrow(
      'at once',
    );
  });

  it('reports progress over all files', async () => {
    const seen: PullProgress[] = [];
    const { totalBytes } = await pullRepository(repo, { ...options, onProgress: (progress) => seen.push(progress) });
    expect(totalBytes).toBe(
      Object.entries(files).reduce((sum, [path, { length }]) => sum + (path.startsWith('vision') ? 0 : length), 0),
    );
    expect(seen.at(-1)).toMatchObject({ bytes: totalBytes, totalBytes, filesDone: 8, files: 8 });
    // Weights come last.
    expect(seen.findIndex(({ file }) => file.endsWith('.safetensors'))).toBeGreaterThanOrEqual(6);
  });

  it('fills a plain folder, and checks what is there', async () => {
    const localDir = join(place, 'plain');
    const pull = () => pullRepository(repo, { ...options, localDir, include: ['transformer/', 'vision_encoder/*'] });
    const { folder, files: names } = await pull();
    expect(folder).toBe(localDir);
    expect(names).toEqual(['transformer/config.json', bigPath, 'vision_encoder/model.safetensors']);
    expect(lstatSync(join(localDir, bigPath)).isFile()).toBe(true);
    const before = hub.downloads.length;
    await pull();
    expect(hub.downloads).toHaveLength(before);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    writeFileSync(join(localDir, bigPath), new Uint8Array(300_000));
    await pull();
    expect(hub.downloads).toHaveLength(before + 1);
    expect(readFileSync(join(localDir, bigPath)).equals(bigWeights)).toBe(true);
    expect(existsSync(blobs)).toBe(false);
  });

  it('takes turns with another process, and takes over from a dead one', async () => {
    mkdirSync(blobs, { recursive: true });
    const lock = `${partial}.lock`;
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    writeFileSync(lock, `${child.pid}@${hostname()}`);
    await Promise.all([pullRepository(repo, { ...options, ...big }), pullRepository(repo, { ...options, ...big })]);
    expect(bigDownloads()).toHaveLength(1);
    expect(existsSync(lock)).toBe(false);
  });
});

describe('resolveCheckpoint', () => {
  it('prefers a local path, then the cache, then the hub', async () => {
    const folder = join(place, 'local');
    mkdirSync(folder);
    expect(await resolveCheckpoint(folder, options)).toEqual({ path: folder, source: 'local' });
    const first = await resolveCheckpoint(repo, options);
    expect(first.source).toBe('download');
    expect(existsSync(join(first.path, 'README.md'))).toBe(false);
    const asked = hub.requests.length;
    expect(await resolveCheckpoint(repo, { ...options, offline: true })).toEqual({ path: first.path, source: 'cache' });
    expect(hub.requests).toHaveLength(asked);
    rmSync(join(first.path, 'vae', 'diffusion_pytorch_model.safetensors'));
    const error = await failure(resolveCheckpoint(repo, { ...options, offline: true }));
    expect(error.failure).toBe('offline');
    expect(error.message).toMatch(
      /\(missing: the weights of vae\/\) and offline is set: unset HF_HUB_OFFLINE, or run orrery pull nvidia\/Cosmos3-Test/,
    );
    expect((await resolveCheckpoint(repo, options)).source).toBe('download');
  });

  it('tells paths from repositories', async () => {
    await expect(resolveCheckpoint('./absent', options)).rejects.toThrow(
      /no such file or folder; check the path, or give a repository id/,
    );
    await expect(resolveCheckpoint('absent/model.safetensors', options)).rejects.toThrow(/no such file/);
    expect((await failure(resolveCheckpoint('nvidia/Absent', { ...options, offline: true }))).message).toMatch(
      /missing: nothing of it/,
    );
    expect((await failure(pullRepository(repo, { ...options, offline: true }))).failure).toBe('offline');
    expect(hub.requests).toEqual([]);
  });
});

describe('patterns', () => {
  it.each([
    ['*.json', ['a.json', 'x/y.json'], ['a.jsonl']],
    ['vae/', ['vae/config.json', 'vae/a/b'], ['vae', 'vaex/a']],
    ['a?c.[jt]xt', ['abc.jxt', 'a/c.txt'], ['ac.txt', 'abc.xxt']],
    ['[!a]+(1).txt', ['b+(1).txt'], ['a+(1).txt', 'bb(1).txt']],
  ])('%s', (pattern, matching, others) => {
    const expression = compilePattern(pattern);
    expect(matching.filter((path) => !expression.test(path))).toEqual([]);
    expect(others.filter((path) => expression.test(path))).toEqual([]);
  });
});
