import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DiskArtifactStore } from '../../artifacts/disk-artifact-store.js';
import { JobDatabase } from '../../jobs/database.js';
import { SqliteQueue } from '../../jobs/queue/sqlite-queue.js';
import type { Lease } from '../../jobs/types.js';
import type { ProducedFile } from '../job-runner.js';
import { commitResults } from './commit-results.js';

let folder: string;
let staging: string;
let database: JobDatabase;
let queue: SqliteQueue;
let store: DiskArtifactStore;
let lease: Lease;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-commit-'));
  staging = join(folder, 'staging');
  mkdirSync(staging);
  database = new JobDatabase(join(folder, 'jobs.db'));
  queue = new SqliteQueue(database);
  store = new DiskArtifactStore(join(folder, 'artifacts'));
  const request = { fields: {}, extra: {}, inputs: [] };
  await queue.enqueue({ id: 'x', owner: 'a', kind: 'k', requestId: 'r', request, plan: null, outputs: [] });
  lease = (await queue.claim('w'))?.lease ?? { jobId: '', epoch: 0 };
  writeFileSync(join(staging, 'one'), 'abc');
  writeFileSync(join(staging, 'two'), 'defg');
});
afterEach(() => {
  database[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

function produced(name: string, bytes: number, index = 0): ProducedFile {
  return { name, variant: 'image', index, mediaType: 'image/png', bytes, sha256: 'ff' };
}

function commit(...files: ProducedFile[]): Promise<boolean> {
  const run = { lease, folder: staging, result: { files, result: null }, phases: {}, peakMemoryMb: 1 };
  return commitResults(queue, store, run);
}

test('all files of a run become artifacts together', async () => {
  expect(await commit(produced('one', 3, 0), produced('two', 4, 1))).toBe(true);
  const job = await queue.get('x');
  expect(job?.status).toBe('completed');
  expect(job?.artifacts.map(({ index, bytes }) => [index, bytes])).toEqual([
    [0, 3],
    [1, 4],
  ]);
  expect(await store.list()).toEqual(job?.artifacts.map(({ file }) => file).sort());
});

test('a lost lease leaves no file', async () => {
  await queue.cancel('x');
  expect(await commit(produced('one', 3))).toBe(false);
  expect(await store.list()).toEqual([]);
});

test.each([
  ['of another size', () => produced('two', 5), /two has 4 bytes, the run wrote 5/],
  ['that is not there', () => produced('three', 5), /ENOENT/],
  ['outside its folder', () => produced('../jobs.db', 5), /outside its folder: \.\.\/jobs\.db/],
  ['that is a link', () => produced('link', 3), /link, which is no file/],
])('a file %s stops the commit and leaves nothing', async (_, file, message) => {
  symlinkSync(join(staging, 'one'), join(staging, 'link'));
  await expect(commit(produced('one', 3), file())).rejects.toThrow(message);
  expect(await store.list()).toEqual([]);
  expect((await queue.get('x'))?.status).toBe('in_progress');
});

test('two files in one place stop the commit', async () => {
  await expect(commit(produced('one', 3), produced('two', 4))).rejects.toThrow(/UNIQUE/);
  expect(await store.list()).toEqual([]);
  expect((await queue.get('x'))?.artifacts).toEqual([]);
});
