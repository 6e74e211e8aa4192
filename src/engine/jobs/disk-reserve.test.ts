import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JobDatabase } from './database.js';
import { DiskReserve, isDiskFull } from './disk-reserve.js';
import { SqliteQueue } from './queue/sqlite-queue.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-reserve-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const job = (prompt: string) => ({
  owner: 'a',
  kind: 'video',
  requestId: 'r',
  request: { fields: { prompt }, extra: {}, inputs: [] },
  plan: null,
  outputs: [],
});

test('a reserve is room that can be given up once, and taken again', () => {
  const path = join(folder, 'reserve');
  const reserve = new DiskReserve(path);
  expect(statSync(path).size).toBe(4 * 2 ** 20);
  expect(reserve.release()).toBe(true);
  expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
  expect(reserve.release()).toBe(false);
  reserve.restore();
  expect(new DiskReserve(path).release()).toBe(true);
});

test('on a full disk nothing new is taken, and what is there can end and go', async () => {
  let isReleased = false;
  let database: JobDatabase | undefined;
  // A database that may not grow stands for a disk that is full; giving up the reserve lets it grow a little.
  const limit = (more: number) => {
    const { page_count: pages } = database?.get<{ page_count: number }>('PRAGMA page_count') ?? { page_count: 0 };
    database?.get(`PRAGMA max_page_count = ${pages + more}`);
  };
  database = new JobDatabase(join(folder, 'jobs.db'), {
    release: () => {
      if (isReleased) return false;
      isReleased = true;
      limit(30);
      return true;
    },
    restore: () => undefined,
  });
  using store = database;
  const queue = new SqliteQueue(store);
  const { record: first } = await queue.enqueue(job('first'));
  const { record: second } = await queue.enqueue(job('second'));
  const claimed = await queue.claim('cpu');
  limit(0);
  const long = job('long '.repeat(2000));
  await expect(queue.enqueue(long)).rejects.toSatisfy(isDiskFull);
  expect(isReleased).toBe(false);
  const told: string[] = [];
  queue.subscribe(({ id, change }) => told.push(`${id === first.id ? 'first' : 'second'} ${change}`));
  const error = { code: 'internal_error', param: null, message: 'x'.repeat(20_000) };
  expect(await queue.fail(claimed?.lease ?? { jobId: '', epoch: 0 }, error)).toBe(true);
  expect(isReleased).toBe(true);
  expect(await queue.cancel(second.id)).toBe('cancelled');
  expect(await queue.delete(first.id)).toEqual([]);
  expect(told).toEqual(['first failed', 'second cancelled', 'first deleted']);
  expect((await queue.list({})).jobs.map(({ id, status }) => [id, status])).toEqual([[second.id, 'cancelled']]);
  // Where the deleted job was there is room again.
  expect((await queue.enqueue(job('third'))).created).toBe(true);
});
