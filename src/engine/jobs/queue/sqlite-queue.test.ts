import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JobDatabase } from '../database.js';
import { IdempotencyConflictError, QueueFullError, UnknownUploadError } from '../errors.js';
import type { ClaimedJob, JobChange, JobOutcome, NewJob } from '../types.js';
import { type QueueOptions, SqliteQueue } from './sqlite-queue.js';

let folder: string;
let database: JobDatabase;
let clock = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-queue-'));
  database = new JobDatabase(join(folder, 'jobs.db'));
  clock = 1_000_000;
});

afterEach(() => {
  database[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

function openQueue(options: QueueOptions = {}): SqliteQueue {
  return new SqliteQueue(database, { now: () => clock, ...options });
}

function newJob(id: string, more: Partial<NewJob> = {}): NewJob {
  return {
    id,
    owner: 'a',
    kind: 'video',
    requestId: `r-${id}`,
    request: { fields: { prompt: id }, extra: {}, inputs: [] },
    plan: null,
    outputs: [{ variant: 'video', kind: 'mp4' }],
    ...more,
  };
}

function outcome(file: string): JobOutcome {
  const artifact = { id: `id-${file}`, variant: 'video' as const, index: 0, mediaType: 'video/mp4', bytes: 3 };
  const artifacts = [{ ...artifact, sha256: 'ff', file }];
  return { artifacts, result: { seed: 7 }, phases: { denoise: 1.5 }, peakMemoryMb: 12 };
}

async function claim(queue: SqliteQueue): Promise<ClaimedJob> {
  const job = await queue.claim('worker');
  if (!job) throw new Error('nothing to claim');
  return job;
}

async function claimAll(queue: SqliteQueue): Promise<string[]> {
  const ids: string[] = [];
  for (let job = await queue.claim('w'); job; job = await queue.claim('w')) ids.push(job.record.id);
  return ids;
}

describe('accepting', () => {
  test('gives a record that a reopened store still has', async () => {
    const { record, created } = await openQueue().enqueue(newJob('x', { priority: 3, idempotencyKey: 'k' }));
    expect(created).toBe(true);
    expect(record).toMatchObject({
      id: 'x',
      status: 'queued',
      priority: 3,
      createdAt: 1_000_000,
      attempts: 0,
      idempotencyKey: 'k',
      request: { fields: { prompt: 'x' } },
      artifacts: [],
    });
    database[Symbol.dispose]();
    database = new JobDatabase(join(folder, 'jobs.db'));
    expect(await openQueue().get('x')).toEqual(record);
  });

  test('makes an id where none is given', async () => {
    const { id: _, ...job } = newJob('x');
    const { record } = await openQueue().enqueue(job);
    expect(record.id).toMatch(/^job_[0-9a-f]{32}$/);
  });

  test('gives the same job for the same key and request of an owner', async () => {
    const queue = openQueue();
    await queue.enqueue(newJob('x', { idempotencyKey: 'k' }));
    const again = { ...newJob('y', { idempotencyKey: 'k' }), request: newJob('x').request };
    expect(await queue.enqueue(again)).toMatchObject({ created: false, record: { id: 'x' } });
    await expect(queue.enqueue(newJob('z', { idempotencyKey: 'k' }))).rejects.toThrow(IdempotencyConflictError);
    const other = await queue.enqueue(newJob('o', { idempotencyKey: 'k', owner: 'b' }));
    expect(other).toMatchObject({ created: true, record: { id: 'o' } });
  });

  test('refuses what is beyond the bound and says when to come back', async () => {
    const queue = openQueue({ limit: 2 });
    for (const id of ['a', 'b']) await queue.enqueue(newJob(id));
    const { lease } = await claim(queue);
    clock += 40_000;
    await queue.complete(lease, outcome('f'));
    await claim(queue);
    for (const id of ['c', 'd']) await queue.enqueue(newJob(id));
    const refused = await queue.enqueue(newJob('e')).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(QueueFullError);
    expect(refused).toMatchObject({ limit: 2, retryAfterSeconds: 40 });
    expect(await queue.get('e')).toBeNull();
  });

  test('refuses a job whose upload is not kept', async () => {
    const request = { fields: {}, extra: {}, inputs: [{ role: 'image', sha256: 'abc' }] };
    await expect(openQueue().enqueue(newJob('x', { request }))).rejects.toThrow(UnknownUploadError);
    expect(await openQueue().get('x')).toBeNull();
  });
});

describe('the order of jobs', () => {
  test('is what is urgent, then owners in turn, each with its most important job, then age', async () => {
    const queue = openQueue();
    for (const id of ['a1', 'a2', 'a3']) await queue.enqueue(newJob(id));
    await queue.enqueue(newJob('high', { priority: 9 }));
    await queue.enqueue(newJob('b low', { owner: 'b', priority: -1 }));
    await queue.enqueue(newJob('b1', { owner: 'b' }));
    await queue.enqueue(newJob('urgent', { owner: 'c', priority: 10 }));
    const order = ['urgent', 'high', 'b1', 'a1', 'b low', 'a2', 'a3'];
    expect((await queue.places()).map(({ jobId }) => jobId)).toEqual(order);
    expect(await claimAll(queue)).toEqual(order);
  });

  test('a full queue still has its share for an owner who has less than that', async () => {
    const queue = openQueue({ limit: 4 });
    for (const id of ['a1', 'a2', 'a3', 'a4']) await queue.enqueue(newJob(id));
    await expect(queue.enqueue(newJob('a5'))).rejects.toThrow(QueueFullError);
    for (const id of ['b1', 'b2']) await queue.enqueue(newJob(id, { owner: 'b' }));
    await expect(queue.enqueue(newJob('b3', { owner: 'b' }))).rejects.toThrow(QueueFullError);
    await queue.enqueue(newJob('c1', { owner: 'c' }));
    await expect(queue.enqueue(newJob('c2', { owner: 'c' }))).rejects.toThrow(QueueFullError);
    await expect(queue.enqueue(newJob('a5'))).rejects.toThrow(QueueFullError);
  });

  test('one owner with many jobs does not keep another waiting', async () => {
    const queue = openQueue();
    for (let i = 0; i < 20; i++) await queue.enqueue(newJob(`a${i}`));
    await claim(queue);
    await queue.enqueue(newJob('b0', { owner: 'b' }));
    expect((await claim(queue)).record.id).toBe('b0');
  });

  test('a job that has run before is next', async () => {
    const queue = openQueue();
    for (const id of ['a', 'b', 'c']) await queue.enqueue(newJob(id));
    await claim(queue);
    const second = await claim(queue);
    await queue.release(second.lease);
    expect((await claim(queue)).record).toMatchObject({ id: 'b', attempts: 2, crashes: [] });
  });
});

describe('leases', () => {
  test('a job that runs twice commits once', async () => {
    const queue = openQueue({ leaseMs: 1000 });
    await queue.enqueue(newJob('x'));
    const first = await claim(queue);
    clock += 1000;
    await queue.expire();
    const second = await claim(queue);
    expect([first.lease.epoch, second.lease.epoch]).toEqual([1, 2]);
    expect(await queue.complete(second.lease, outcome('second'))).toBe(true);
    expect(await queue.complete(first.lease, outcome('first'))).toBe(false);
    expect(await queue.complete(second.lease, outcome('third'))).toBe(false);
    expect((await queue.get('x'))?.artifacts.map(({ file }) => file)).toEqual(['second']);
    expect(await queue.progress(first.lease, somewhere)).toBe(false);
    expect(await queue.fail(first.lease, { code: 'internal_error', param: null, message: '' })).toBe(false);
  });

  test('hold as long as they are prolonged', async () => {
    const queue = openQueue({ leaseMs: 1000 });
    for (const id of ['x', 'y']) await queue.enqueue(newJob(id));
    const [x, y] = [await claim(queue), await claim(queue)];
    clock += 900;
    expect(await queue.heartbeat([x.lease])).toEqual([x.lease]);
    clock += 900;
    await queue.expire();
    expect(await queue.heartbeat([x.lease, y.lease])).toEqual([x.lease]);
    expect(await queue.get('y')).toMatchObject({ status: 'queued', crashes: [] });
  });

  test('the second death of its worker fails a job, with both reasons', async () => {
    const queue = openQueue();
    await queue.enqueue(newJob('x'));
    const first = await claim(queue);
    expect(await queue.crashed(first.lease, 'killed by SIGKILL')).toBe('queued');
    expect(await queue.crashed(first.lease, 'again')).toBe('lost');
    const second = await claim(queue);
    expect(second.record.crashes).toEqual(['killed by SIGKILL']);
    expect(await queue.crashed(second.lease, 'exited with code 134')).toBe('failed');
    const { status, error } = (await queue.get('x')) ?? {};
    expect(status).toBe('failed');
    expect(error).toEqual({
      code: 'internal_error',
      param: null,
      message: 'The worker died 2 times under this job, the last time: exited with code 134',
      crashes: ['killed by SIGKILL', 'exited with code 134'],
    });
  });
});

const somewhere = { phase: 'denoise', step: 1, steps: 4, chunk: 0, chunks: 1, fraction: 0.2, secondsLeft: 9 } as const;

describe('the end of a job', () => {
  test('keeps its result, times and artifacts', async () => {
    const queue = openQueue();
    await queue.enqueue(newJob('x'));
    clock += 3000;
    const { lease } = await claim(queue);
    await queue.progress(lease, somewhere);
    expect((await queue.get('x'))?.progress).toEqual(somewhere);
    clock += 2000;
    await queue.complete(lease, outcome('f.mp4'));
    expect(await queue.get('x')).toMatchObject({
      status: 'completed',
      startedAt: 1_003_000,
      completedAt: 1_005_000,
      result: { seed: 7 },
      progress: null,
      timings: { queued: 3, total: 2, phases: { denoise: 1.5 }, peakMemoryMb: 12 },
      artifacts: [{ id: 'id-f.mp4', jobId: 'x', file: 'f.mp4', bytes: 3, index: 0, createdAt: 1_005_000 }],
    });
  });

  test('by cancellation takes the lease away', async () => {
    const queue = openQueue();
    for (const id of ['waiting', 'running']) await queue.enqueue(newJob(id, { priority: id === 'running' ? 1 : 0 }));
    const { lease } = await claim(queue);
    expect(await queue.cancel('waiting')).toBe('cancelled');
    expect(await queue.cancel('running')).toBe('cancelled');
    expect(await queue.complete(lease, outcome('f'))).toBe(false);
    expect(await queue.cancel('nobody')).toBe('unknown');
    expect(await queue.retry('running')).toBe(true);
    expect((await claim(queue)).lease).toEqual({ jobId: 'running', epoch: 2 });
    await queue.complete({ jobId: 'running', epoch: 2 }, outcome('g'));
    expect(await queue.cancel('running')).toBe('completed');
    expect(await queue.retry('running')).toBe(false);
  });

  test('a failed job can be tried again from the start', async () => {
    const queue = openQueue();
    await queue.enqueue(newJob('x'));
    await queue.fail((await claim(queue)).lease, { code: 'invalid_media', param: 'image', message: 'broken' });
    expect(await queue.get('x')).toMatchObject({ status: 'failed', error: { code: 'invalid_media', param: 'image' } });
    expect(await queue.retry('x')).toBe(true);
    expect(await queue.get('x')).toMatchObject({ status: 'queued', error: null, attempts: 0, completedAt: null });
  });
});

describe('lists', () => {
  test('are paged in the order of acceptance, by owner and kind, without transient jobs', async () => {
    const queue = openQueue();
    for (let i = 0; i < 5; i++) await queue.enqueue(newJob(`j${i}`));
    await queue.enqueue(newJob('other', { owner: 'b' }));
    await queue.enqueue(newJob('image', { kind: 'image' }));
    await queue.enqueue(newJob('gone', { transient: true }));
    const query = { owner: 'a', kind: 'video', limit: 2 } as const;
    const pages: string[][] = [];
    for (let after: string | undefined, more = true; more; after = pages.at(-1)?.at(-1)) {
      const { jobs, hasMore } = await queue.list({ ...query, after });
      pages.push(jobs.map(({ id }) => id));
      more = hasMore;
    }
    expect(pages).toEqual([['j4', 'j3'], ['j2', 'j1'], ['j0']]);
    const upward = await queue.list({ ...query, after: 'j1', order: 'asc' });
    expect(upward.jobs.map(({ id }) => id)).toEqual(['j2', 'j3']);
    expect(await queue.list({ ...query, after: 'nobody' })).toEqual({ jobs: [], hasMore: false, total: null });
    expect(await queue.list({ ...query, limit: 0 })).toEqual({ jobs: [], hasMore: true, total: null });
    expect((await queue.list({ status: 'queued', limit: 100 })).jobs).toHaveLength(7);
    expect(await queue.counts()).toEqual({ queued: 8, inProgress: 0, completed: 0, failed: 0, cancelled: 0 });
  });

  test('of 1 000 waiting jobs come quickly and in order', async () => {
    const queue = openQueue({ limit: 1000 });
    database.run('PRAGMA synchronous = OFF');
    for (let i = 0; i < 1000; i++) await queue.enqueue(newJob(`j${i}`, { owner: `o${i % 7}` }));
    const seen: string[] = [];
    for (let more = true; more; ) {
      const page = await queue.list({ limit: 100, order: 'asc', after: seen.at(-1) });
      seen.push(...page.jobs.map(({ id }) => id));
      more = page.hasMore;
    }
    expect(seen).toEqual(Array.from({ length: 1000 }, (_, i) => `j${i}`));
    expect((await queue.places())[999]?.place).toBe(1000);
  });
});

describe('time', () => {
  test('fails what is past its deadline and removes what is past its lifetime', async () => {
    const queue = openQueue({ lifetimeSeconds: 60 });
    await queue.enqueue(newJob('late', { deadlineAt: clock + 500 }));
    await queue.enqueue(newJob('done', { priority: 1 }));
    await queue.complete((await claim(queue)).lease, outcome('f.mp4'));
    clock += 500;
    expect(await queue.expire()).toEqual({ jobs: [], files: [] });
    expect((await queue.get('late'))?.error).toMatchObject({
      code: 'timeout',
      message: 'The job was not done by its deadline, 1970-01-01T00:16:40.500Z.',
    });
    clock += 59_499;
    expect((await queue.expire()).jobs).toEqual([]);
    clock += 1;
    expect(await queue.expire()).toEqual({ jobs: ['done'], files: ['f.mp4'] });
    expect(await queue.get('done')).toBeNull();
    clock += 500;
    expect((await queue.expire()).jobs).toEqual(['late']);
  });

  test('a restart takes running jobs back unharmed and drops those whose caller is gone', async () => {
    const queue = openQueue();
    await queue.enqueue(newJob('x', { priority: 2 }));
    await queue.enqueue(newJob('sync', { transient: true, priority: 1 }));
    const [x] = [await claim(queue), await claim(queue)];
    expect(await queue.expire({ abandonAll: true })).toEqual({ jobs: ['sync'], files: [] });
    expect(await queue.get('x')).toMatchObject({ status: 'queued', crashes: [] });
    expect(await queue.complete(x.lease, outcome('f'))).toBe(false);
  });
});

test('finished jobs can be deleted, others not', async () => {
  const queue = openQueue();
  await queue.enqueue(newJob('x'));
  expect(await queue.delete('x')).toBe('busy');
  const { lease } = await claim(queue);
  expect(await queue.delete('x')).toBe('busy');
  await queue.complete(lease, outcome('f.mp4'));
  expect(await queue.delete('x')).toEqual(['f.mp4']);
  expect(await queue.delete('x')).toBe('unknown');
  expect(database.all('SELECT * FROM artifacts')).toEqual([]);
});

test('listeners hear of each change, once it is made', async () => {
  const queue = openQueue();
  const heard: JobChange[] = [];
  const stop = queue.subscribe((change) => heard.push(change));
  await queue.enqueue(newJob('x'));
  const { lease } = await claim(queue);
  await queue.release(lease);
  await queue.complete((await claim(queue)).lease, outcome('f'));
  await queue.delete('x');
  stop();
  await queue.enqueue(newJob('y'));
  expect(heard.map(({ id, change }) => `${id} ${change}`)).toEqual([
    'x queued',
    'x started',
    'x queued',
    'x started',
    'x completed',
    'x deleted',
  ]);
});
