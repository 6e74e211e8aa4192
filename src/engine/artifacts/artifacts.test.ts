import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JobDatabase } from '../jobs/database.js';
import { ArtifactMissingError } from '../jobs/errors.js';
import { SqliteQueue } from '../jobs/queue/sqlite-queue.js';
import { ContentTokens } from './content-tokens.js';
import { DiskArtifactStore } from './disk-artifact-store.js';
import { DiskUploadStore } from './disk-upload-store.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-artifacts-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function stage(content: string): string {
  const path = join(folder, `staged-${Math.random()}`);
  writeFileSync(path, content);
  return path;
}

describe('the artifact store', () => {
  test('takes files over and gives them back, whole or in part', async () => {
    const store = new DiskArtifactStore(join(folder, 'artifacts'));
    const path = stage('0123456789');
    const file = await store.put(path, 'video/mp4');
    expect(file).toMatch(/^[0-9a-f-]{36}\.mp4$/);
    expect(existsSync(path)).toBe(false);
    expect(await store.size(file)).toBe(10);
    expect(await text(await store.read(file))).toBe('0123456789');
    expect(await text(await store.read(file, { start: 2, end: 5 }))).toBe('2345');
    const [second, odd] = [await store.put(stage('x'), 'video/mp4'), await store.put(stage('y'), 'a/b')];
    expect(second).not.toBe(file);
    expect(odd).toMatch(/\.bin$/);
    expect(await store.list()).toEqual([file, second, odd].sort());
  });

  test('says that a file is missing before anything is sent', async () => {
    const store = new DiskArtifactStore(join(folder, 'artifacts'));
    await expect(store.read('a.mp4')).rejects.toThrow(ArtifactMissingError);
    expect(await store.size('a.mp4')).toBeNull();
    await expect(store.read('../secret.mp4')).rejects.toThrow(RangeError);
  });

  test('deletes what it is told and sweeps what is not of record', async () => {
    const store = new DiskArtifactStore(join(folder, 'artifacts'));
    const [a, b, c] = [await store.put(stage('a'), 'x/y'), await store.put(stage('b'), 'x/y'), 'gone.bin'];
    writeFileSync(join(store.folder, 'half.part'), '');
    await store.delete([a, c]);
    expect(await store.sweep((file) => file === b)).toEqual(['half.part']);
    expect(await store.list()).toEqual([b]);
  });
});

describe('the upload store', () => {
  let database: JobDatabase;
  let clock = 0;
  let uploads: DiskUploadStore;
  beforeEach(() => {
    clock = 1_000_000;
    database = new JobDatabase(join(folder, 'jobs.db'));
    uploads = new DiskUploadStore(join(folder, 'uploads'), database, { lifetimeSeconds: 10, now: () => clock });
  });
  afterEach(() => database[Symbol.dispose]());

  async function upload(content: string) {
    const path = uploads.temporaryPath();
    writeFileSync(path, content);
    return uploads.keep(path, 'image/png');
  }

  async function kept(sha256: string) {
    const record = await uploads.get(sha256);
    if (!record) throw new Error('not kept');
    return record;
  }

  test('keeps one file for one content', async () => {
    const first = await upload('picture');
    const hash = createHash('sha256').update('picture').digest('hex');
    expect(first).toMatchObject({ sha256: hash, bytes: 7, mediaType: 'image/png', expiresAt: 1_010_000 });
    clock += 4000;
    expect(await upload('picture')).toEqual({ ...first, expiresAt: 1_014_000 });
    expect(readdirSync(uploads.folder)).toEqual([first.file]);
    expect(readFileSync(uploads.path(first), 'utf8')).toBe('picture');
    expect(await uploads.get('00')).toBeNull();
  });

  test('lives as long as a listed job that read it, and no longer than a run for others', async () => {
    const queue = new SqliteQueue(database, { now: () => clock });
    const { sha256 } = await upload('picture');
    const request = { fields: {}, extra: {}, inputs: [{ role: 'image', sha256 }] };
    const job = { owner: 'a', kind: 'k', requestId: 'r', request, plan: null, outputs: [] };
    await queue.enqueue({ ...job, id: 'x', transient: true });
    clock += 20_000;
    expect(await uploads.expire()).toEqual([]);
    const claimed = await queue.claim('w');
    expect(await uploads.expire()).toEqual([]);
    if (claimed) await queue.fail(claimed.lease, { code: 'internal_error', param: null, message: '' });
    expect(await uploads.expire()).toEqual([sha256]);
    expect(readdirSync(uploads.folder)).toEqual([]);
    expect(await queue.retry('x')).toBe(false);
    await upload('picture');
    await queue.enqueue({ ...job, id: 'y' });
    await queue.cancel('y');
    clock += 20_000;
    expect(await uploads.expire()).toEqual([]);
    expect(Buffer.concat(await (await uploads.read(await kept(sha256), { start: 1, end: 3 })).toArray())).toEqual(
      Buffer.from('ict'),
    );
    await queue.delete('y');
    expect(await uploads.expire()).toEqual([sha256]);
  });

  test('sweeps unfinished uploads', async () => {
    const { file } = await upload('kept');
    writeFileSync(uploads.temporaryPath(), 'half');
    expect(await uploads.sweep()).toHaveLength(1);
    expect(readdirSync(uploads.folder)).toEqual([file]);
  });
});

describe('content tokens', () => {
  let clock = 1_000_000;
  const tokens = new ContentTokens(Buffer.alloc(32, 1), () => clock);

  test('hold for their subject and their time', () => {
    clock = 1_000_000;
    const token = tokens.issue('/v1/videos/x/content', 60);
    expect(token).toMatch(/^[0-9a-z]+\.[\w-]{43}$/);
    expect(tokens.verify('/v1/videos/x/content', token)).toBe(true);
    expect(tokens.verify('/v1/videos/y/content', token)).toBe(false);
    clock += 60_000;
    expect(tokens.verify('/v1/videos/x/content', token)).toBe(true);
    clock += 1;
    expect(tokens.verify('/v1/videos/x/content', token)).toBe(false);
  });

  test('cannot be made, stretched or borrowed', () => {
    clock = 1_000_000;
    const token = tokens.issue('s', 1);
    const [, signature = ''] = token.split('.');
    const later = (10_000_000).toString(36);
    for (const forged of ['', '.', 'x', token.slice(0, -2), `${later}.${signature}`, `${token}.x`.replace('.', '..')]) {
      expect(tokens.verify('s', forged), forged).toBe(false);
    }
    expect(new ContentTokens(Buffer.alloc(32, 2), () => clock).verify('s', token)).toBe(false);
    expect(() => new ContentTokens(Buffer.alloc(31))).toThrow(RangeError);
  });
});
