import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JobDatabase, openConnection } from '../database.js';
import { migrations } from '../migrations.js';
import type { ListQuery, NewJob } from '../types.js';
import { SqliteQueue } from './sqlite-queue.js';

let folder: string;
let database: JobDatabase;
let queue: SqliteQueue;
let now = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-list-'));
  database = new JobDatabase(join(folder, 'jobs.db'));
  queue = new SqliteQueue(database, { limit: 10_000, now: () => now });
});
afterEach(() => {
  database[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

const job = (id: string, prompt: string, more: Partial<NewJob> = {}): NewJob => ({
  id,
  owner: 'a',
  kind: 'video',
  requestId: 'r',
  request: { fields: { prompt }, extra: {}, inputs: [] },
  plan: null,
  outputs: [],
  ...more,
});

const plan = (task: string) =>
  ({
    task,
    content: { width: 320, height: 192 },
    frames: 17,
    fps: 24,
    steps: 8,
    guidance: { scale: 4 },
    schedule: { solver: 'unipc', flowShift: 10 },
    seed: 7,
    sound: null,
    action: {},
  }) as object as NonNullable<NewJob['plan']>;

const ids = async (query: ListQuery) => (await queue.list({ owner: 'a', ...query })).jobs.map(({ id }) => id);

describe('a list of jobs', () => {
  test('fits all conditions: words, task, state, kind, time', async () => {
    const prompts = ['A Red ball', 'a blue BALL', 'Ölfass, red', 'a green cube'];
    for (const [i, prompt] of prompts.entries()) {
      now = 1000 * i;
      const task = i === 3 ? 'transfer' : 'text-to-video';
      await queue.enqueue(job(`j${i}`, prompt, { plan: plan(task), shape: 's', kind: i === 2 ? 'image' : 'video' }));
    }
    await queue.enqueue(job('other', 'a red ball', { owner: 'b' }));
    await queue.enqueue(job('gone', 'a red ball', { transient: true }));
    await queue.cancel('j0');
    expect(await ids({})).toEqual(['j3', 'j2', 'j1', 'j0']);
    expect(await ids({ words: ['ball', 'RED'] })).toEqual(['j0']);
    expect(await ids({ words: ['ölfass'] })).toEqual(['j2']);
    expect(await ids({ words: ['%'] })).toEqual([]);
    expect(await ids({ tasks: ['transfer', 'policy'] })).toEqual(['j3']);
    expect(await ids({ statuses: ['cancelled', 'failed'] })).toEqual(['j0']);
    expect(await ids({ kind: 'image', order: 'asc' })).toEqual(['j2']);
    expect(await ids({ createdFrom: 1000, createdBefore: 3000 })).toEqual(['j2', 'j1']);
    const page = await queue.list({ owner: 'a', words: ['a'], limit: 1, after: 'j3', counts: true });
    expect([page.jobs.map(({ id }) => id), page.hasMore, page.total]).toEqual([['j2'], true, 4]);
    expect((await queue.get('j3'))?.summary).toEqual({
      task: 'transfer',
      width: 320,
      height: 192,
      frames: 17,
      fps: 24,
      steps: 8,
      guidance: 4,
      flowShift: 10,
      seed: 7,
      hasSound: false,
      hasAction: true,
    });
  });

  test('is found fast among 5 000', async () => {
    const request = JSON.stringify(job('x', 'long '.repeat(200)).request);
    database.run(
      `INSERT INTO jobs (id, owner, kind, request_id, request_hash, request, outputs, words, status, priority, transient,
         created_at, queued_at)
       WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4999)
       SELECT 'j' || i, 'a', 'video', 'r', 'h', :request, '[]',
         'picture ' || i || CASE WHEN i % 10 = 0 THEN ' of a heron' ELSE ' of the sea' END, 'queued', 0, 0, i, i FROM numbers`,
      { request },
    );
    await ids({ words: ['warm'] });
    const start = performance.now();
    const page = await queue.list({ owner: 'a', words: ['heron', '42'], limit: 100, counts: true });
    const rare = performance.now() - start;
    expect([page.total, page.jobs.length]).toEqual([15, 15]);
    expect(await ids({ limit: 2, after: 'j100', order: 'asc' })).toEqual(['j101', 'j102']);
    // Some milliseconds; far more would mean that the long rows are read.
    expect(rare).toBeLessThan(250);
  });

  test('finds what a store of the first version holds', async () => {
    const path = join(folder, 'old.db');
    const old = openConnection(path);
    old.exec(`${migrations[0]}; PRAGMA user_version = 1;`);
    old.exec(`INSERT INTO jobs (id, owner, kind, request_id, request_hash, request, outputs, plan, status, priority, transient,
        created_at, queued_at)
      VALUES ('x', 'a', 'video', 'r', 'h', '{"fields":{"prompt":"A Ball"},"extra":{},"inputs":[]}', '[]',
        '${JSON.stringify({ ...plan('policy'), sound: { samples: 1 } })}', 'queued', 0, 0, 1, 1)`);
    old.close();
    using reopened = new JobDatabase(path);
    const [found] = (await new SqliteQueue(reopened).list({ words: ['ball'], tasks: ['policy'] })).jobs;
    expect(found?.summary).toEqual({
      task: 'policy',
      width: 320,
      height: 192,
      frames: 17,
      fps: 24,
      steps: 8,
      guidance: 4,
      flowShift: 10,
      seed: 7,
      hasSound: true,
      hasAction: true,
    });
  });
});
