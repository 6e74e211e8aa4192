import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JobDatabase } from '../database.js';
import { SqliteQueue } from '../queue/sqlite-queue.js';
import { RunTimelines } from '../run-timeline.js';
import type { ClaimedJob, EventTopic, FollowOptions, JobEvent, JobProgress, NewJob } from '../types.js';
import { EventHub, type HubOptions } from './event-hub.js';

let folder: string;
let database: JobDatabase;
let queue: SqliteQueue;
let hub: EventHub;

const picture = (step: number) =>
  ({
    type: 'preview',
    step,
    steps: 4,
    frame: 0,
    width: 8,
    height: 8,
    final: false,
    mediaType: 'image/webp',
    bytes: new Uint8Array([step]),
  }) as const;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-events-'));
  database = new JobDatabase(join(folder, 'jobs.db'));
  queue = new SqliteQueue(database);
  openHub();
});
afterEach(() => {
  hub[Symbol.dispose]();
  database[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

function openHub(options: HubOptions = {}): void {
  hub?.[Symbol.dispose]();
  hub = new EventHub(queue, new RunTimelines(database), { placeEveryMs: 1, now: () => 1000, ...options });
}

function newJob(id: string, owner = 'a', shape?: string): NewJob {
  const request = { fields: { prompt: id }, extra: {}, inputs: [] };
  const outputs = [{ variant: 'video', kind: 'mp4' }] as const;
  return { id, owner, kind: 'video', requestId: 'r', request, plan: null, outputs, shape };
}

async function claim(): Promise<ClaimedJob> {
  const job = await queue.claim('w');
  if (!job) throw new Error('nothing to claim');
  return job;
}

const done = { artifacts: [], result: {}, phases: {}, peakMemoryMb: 0 };

function at(step: number): JobProgress {
  return { phase: 'denoise', step, steps: 9, chunk: 0, chunks: 1, fraction: step / 9, secondsLeft: 9 - step };
}

/** An event in a word: its kind and what matters of it. */
function word(event: JobEvent): string {
  switch (event.type) {
    case 'status':
      return `${event.jobId} ${event.status}`;
    case 'place':
      return `${event.jobId} #${event.place}`;
    case 'progress':
      return `${event.jobId} step ${event.progress.step}`;
    case 'preview':
      return `${event.jobId} picture ${event.step}`;
    case 'deleted':
      return `${event.jobId} deleted`;
    default:
      return event satisfies never;
  }
}

/** Collects events in the background. */
function follow(topic: EventTopic, options: FollowOptions = {}) {
  const events: JobEvent[] = [];
  const stop = new AbortController();
  const ended = (async () => {
    for await (const event of hub.follow(topic, { ...options, signal: stop.signal })) events.push(event);
  })();
  return {
    events,
    ended,
    words: () => events.map(word),
    async stop() {
      stop.abort();
      await ended;
    },
  };
}

async function settle(): Promise<void> {
  await hub.settle();
  await new Promise((resolve) => setTimeout(resolve, 15));
  await hub.settle();
}

test('a job is followed from its place to its end, and the stream ends with it', async () => {
  await queue.enqueue(newJob('x'));
  const follower = follow({ jobId: 'x' });
  await settle();
  const { lease, record } = await claim();
  await settle();
  hub.reportProgress(record, at(1));
  hub.publish({ ...picture(1), jobId: 'x', owner: 'a' });
  await queue.complete(lease, done);
  await follower.ended;
  expect(follower.words()).toEqual(['x queued', 'x #1', 'x in_progress', 'x step 1', 'x picture 1', 'x completed']);
  expect(hub.followers).toBe(0);
  const ids = follower.events.map(({ id }) => id);
  expect(new Set(ids.slice(1)).size).toBe(ids.length - 1);
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
});

test('one stream carries all jobs of an owner and nobody else’s', async () => {
  await queue.enqueue(newJob('old'));
  const [mine, all] = [follow({ owner: 'a' }), follow('all')];
  await settle();
  await queue.enqueue(newJob('x'));
  await queue.enqueue(newJob('y', 'b'));
  await settle();
  await queue.cancel('x');
  await settle();
  await queue.delete('x');
  await settle();
  await Promise.all([mine.stop(), all.stop()]);
  expect(mine.words().filter((text) => !text.includes('#'))).toEqual([
    'old queued',
    'x queued',
    'x cancelled',
    'x deleted',
  ]);
  expect(all.words()).toContain('y queued');
  expect(mine.words().join()).not.toContain('y');
});

describe('a follower that comes back', () => {
  test('gets what it missed, and of the pictures the latest', async () => {
    await queue.enqueue(newJob('x'));
    await queue.enqueue(newJob('other', 'b'));
    await settle();
    const { record } = await claim();
    await settle();
    const first = follow({ jobId: 'x' });
    await settle();
    await first.stop();
    const since = first.events.at(-1)?.id;
    for (const step of [1, 2]) {
      hub.reportProgress(record, at(step));
      hub.publish({ ...picture(step), jobId: 'x', owner: 'a' });
    }
    const second = follow({ jobId: 'x' }, { since });
    await settle();
    await second.stop();
    expect(second.words()).toEqual(['x step 1', 'x step 2', 'x picture 2']);
  });

  test.each([
    ['too long ago', 1],
    ['from a clock that ran ahead', Number.MAX_SAFE_INTEGER],
  ])('%s gets the present state instead', async (_, since) => {
    openHub({ kept: 3 });
    await queue.enqueue(newJob('x'));
    await settle();
    const { record } = await claim();
    await settle();
    for (let step = 1; step <= 5; step++) hub.reportProgress(record, at(step));
    const follower = follow({ jobId: 'x' }, { since });
    await settle();
    hub.reportProgress(record, at(6));
    await settle();
    await follower.stop();
    expect(follower.words()).toEqual(['x in_progress', 'x step 5', 'x step 6']);
  });

  test('after a restart gets the present state, with higher numbers', async () => {
    await queue.enqueue(newJob('x'));
    const before = follow({ jobId: 'x' });
    await settle();
    await before.stop();
    openHub({ now: () => 60_000 });
    const after = follow({ jobId: 'x' }, { since: before.events.at(-1)?.id });
    await settle();
    await after.stop();
    expect(after.words().slice(0, 2)).toEqual(['x queued', 'x #1']);
    expect(after.events[0]?.id).toBeGreaterThan(before.events.at(-1)?.id ?? 0);
  });

  test('to a job that has ended gets its end', async () => {
    await queue.enqueue(newJob('x'));
    await queue.complete((await claim()).lease, done);
    await settle();
    const follower = follow({ jobId: 'x' });
    await follower.ended;
    expect(follower.words()).toEqual(['x completed']);
  });
});

test('a follower that does not keep up gets a snapshot instead of a backlog', async () => {
  openHub({ buffered: 5 });
  await queue.enqueue(newJob('x'));
  await settle();
  const { record } = await claim();
  await settle();
  const stream = hub.follow({ jobId: 'x' });
  expect(word((await stream.next()).value as JobEvent)).toBe('x in_progress');
  for (let step = 1; step <= 9; step++) hub.reportProgress(record, at(step));
  expect(word((await stream.next()).value as JobEvent)).toBe('x in_progress');
  expect(word((await stream.next()).value as JobEvent)).toBe('x step 9');
  await stream.return();
});

test('places foretell the end: what runs, what is ahead, and the job itself', async () => {
  database.run(`INSERT INTO timelines VALUES ('slow', '{"points":{},"end":30}', 0)`);
  await queue.enqueue(newJob('running', 'a', 'slow'));
  await queue.enqueue(newJob('next', 'a', 'slow'));
  await queue.enqueue(newJob('last', 'a', 'slow'));
  const { record } = await claim();
  await settle();
  hub.reportProgress(record, at(4));
  const follower = follow({ jobId: 'last' });
  await settle();
  expect(follower.events.find(({ type }) => type === 'place')).toMatchObject({ place: 2, secondsLeft: 5 + 30 + 30 });
  await queue.cancel('next');
  await settle();
  await follower.stop();
  expect(follower.events.at(-1)).toMatchObject({ type: 'place', place: 1, secondsLeft: 5 + 30 });
});

test('whoever comes back after a restart hears of the jobs that have ended since', async () => {
  const end = async (id: string) => {
    await queue.enqueue(newJob(id));
    await queue.complete((await claim()).lease, done);
    await new Promise((resolve) => setTimeout(resolve, 3));
  };
  await end('long ago');
  openHub({ now: Date.now });
  const before = follow({ owner: 'a' });
  await queue.enqueue(newJob('x'));
  await settle();
  const since = before.events.at(-1)?.id ?? 0;
  await before.stop();
  await queue.complete((await claim()).lease, done);
  await end('y');
  await queue.enqueue(newJob('z'));
  await queue.enqueue({ ...newJob('foreign'), owner: 'b' });
  openHub({ now: Date.now });
  const after = follow({ owner: 'a' }, { since });
  await settle();
  await after.stop();
  expect(after.words()).toEqual(['x completed', 'y completed', 'z queued', 'z #2']);
});
