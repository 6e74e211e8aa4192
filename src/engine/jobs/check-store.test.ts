import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkStore, type StoreFolders } from './check-store.js';
import { JobDatabase } from './database.js';
import { SqliteQueue } from './queue/sqlite-queue.js';

let folder: string;
let database: JobDatabase;
let folders: StoreFolders;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-check-'));
  folders = { artifacts: join(folder, 'artifacts'), uploads: join(folder, 'uploads') };
  mkdirSync(folders.artifacts);
  mkdirSync(folders.uploads);
  database = new JobDatabase(join(folder, 'jobs.db'));
  const queue = new SqliteQueue(database);
  const request = { fields: {}, extra: {}, inputs: [] };
  await queue.enqueue({ id: 'x', owner: 'a', kind: 'k', requestId: 'r', request, plan: null, outputs: [] });
  const job = await queue.claim('w');
  if (!job) throw new Error('nothing to claim');
  const artifact = { id: 'i', variant: 'video', index: 0, mediaType: 'video/mp4', bytes: 3, sha256: '', file: 'f.mp4' };
  const outcome = {
    artifacts: [{ ...artifact, variant: 'video' as const }],
    result: null,
    phases: {},
    peakMemoryMb: 0,
  };
  await queue.complete(job.lease, outcome);
  writeFileSync(join(folders.artifacts, 'f.mp4'), 'abc');
});
afterEach(() => {
  database[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

test('a whole store has nothing wrong with it', () => {
  expect(checkStore(database, folders)).toEqual([]);
});

test('files that are missing, cut or nobody’s are named', () => {
  writeFileSync(join(folders.artifacts, 'f.mp4'), 'ab');
  writeFileSync(join(folders.artifacts, 'stray.mp4'), '');
  writeFileSync(join(folders.uploads, 'stray'), '');
  expect(checkStore(database, folders)).toEqual([
    'artifact f.mp4: 2 bytes on the disk, 3 on record',
    'artifact stray.mp4: on the disk, not of record',
    'upload stray: on the disk, not of record',
  ]);
  rmSync(join(folders.artifacts, 'f.mp4'));
  expect(checkStore(database, folders)[0]).toBe('artifact f.mp4: of record, but not on the disk');
});

test('records that contradict each other are named', () => {
  database.run(`UPDATE jobs SET status = 'cancelled'`);
  expect(checkStore(database, folders)).toEqual(['job x: not completed but with artifacts']);
  database.run(`UPDATE jobs SET status = 'completed'`);
  database.run('DELETE FROM artifacts');
  expect(checkStore(database, folders)[0]).toBe('job x: completed without a result');
});
