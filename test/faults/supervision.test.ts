// What the supervisor does with workers that die, hang, stop, refuse and lie, on a fake pipeline in real processes.
import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LockHeldError, WorkerRefusedError } from '../../src/engine/jobs/errors.js';
import type { JobEvent } from '../../src/engine/jobs/types.js';
import { fakeJob, startFakeEngine, temporaryFolder, waitFor, waitForEnd, waitForStatus } from './fake-jobs.js';

describe('a worker', () => {
  test('runs a job to its artifact of record', async () => {
    using folder = temporaryFolder();
    const engine = await startFakeEngine(folder.path);
    const { record } = await engine.queue.enqueue(fakeJob('a red ball', { steps: 4, bytes: 1234 }));
    const done = await waitForEnd(engine, record.id);
    expect(done).toMatchObject({ status: 'completed', attempts: 1, crashes: [], error: null });
    expect(done.artifacts).toHaveLength(1);
    const [artifact] = done.artifacts;
    expect(artifact).toMatchObject({ variant: 'video', index: 0, mediaType: 'video/mp4', bytes: 1234 });
    expect(await engine.artifacts.size(artifact?.file ?? '')).toBe(1234);
    expect(Object.keys(done.timings?.phases ?? {})).toEqual(['text', 'denoise', 'write']);
    expect(done.timings?.peakMemoryMb).toBeGreaterThan(20);
    const [worker] = engine.supervisor.workers;
    expect(getPriority(worker?.pid ?? 0)).toBe(10);
    expect(engine.check()).toEqual([]);
    await engine.close();
    expect(readdirSync(join(folder.path, 'staging', 'fake'))).toEqual([]);
    expect(engine.supervisor.workers[0]?.status).toBe('stopped');
  });

  test('that dies under a job is replaced, and the job run again', async () => {
    using folder = temporaryFolder();
    const engine = await startFakeEngine(folder.path);
    const { record } = await engine.queue.enqueue(fakeJob('once', { crashAtStep: 2, crashEpochs: [1] }));
    const done = await waitForEnd(engine, record.id);
    expect(done).toMatchObject({ status: 'completed', attempts: 2, result: { epoch: 2 } });
    expect(done.crashes).toEqual([expect.stringMatching(/^worker \d+ was killed by SIGKILL$/)]);
    expect(engine.supervisor.workers[0]).toMatchObject({ restarts: 1 });
    await engine.close();
  });

  test('that dies twice under a job fails it, and runs the next one', async () => {
    using folder = temporaryFolder();
    const engine = await startFakeEngine(folder.path);
    const bad = await engine.queue.enqueue(fakeJob('always', { crashAtStep: 1 }));
    const good = await engine.queue.enqueue(fakeJob('after'));
    const failed = await waitForEnd(engine, bad.record.id);
    expect(failed).toMatchObject({ status: 'failed', attempts: 2, artifacts: [] });
    expect(failed.error?.code).toBe('internal_error');
    expect(failed.error?.message).toMatch(/died 2 times .* killed by SIGKILL/);
    expect(failed.error?.crashes).toHaveLength(2);
    expect((await waitForEnd(engine, good.record.id)).status).toBe('completed');
    await engine.close();
    expect(await startAndCheck(folder.path)).toEqual([]);
  });

  test.each([
    ['hangs', { hangAtStep: 2 }, { progressMs: 300 }, /no progress for \d+ s \(phase denoise\)/],
    ['is stopped', { stopAtStep: 2 }, { silenceMs: 600 }, /no sign of life for \d+ s/],
  ])('that %s is killed', async (_, fake, limits, reason) => {
    using folder = temporaryFolder();
    const engine = await startFakeEngine(folder.path, { limits });
    const { record } = await engine.queue.enqueue(fakeJob('stuck', fake));
    const failed = await waitForEnd(engine, record.id);
    expect(failed.status).toBe('failed');
    expect(failed.crashes).toEqual([expect.stringMatching(reason), expect.stringMatching(reason)]);
    await engine.close();
  });

  test('that throws fails the job at once and goes on', async () => {
    using folder = temporaryFolder();
    const engine = await startFakeEngine(folder.path);
    const { record } = await engine.queue.enqueue(fakeJob('broken', { errorAtStep: 1 }));
    const failed = await waitForEnd(engine, record.id);
    expect(failed).toMatchObject({ status: 'failed', attempts: 1, crashes: [] });
    expect(failed.error?.message).toBe('the fake pipeline was told to fail');
    expect(engine.supervisor.workers[0]?.restarts).toBe(0);
    await engine.close();
  });

  test('that names a wrong size gets nothing recorded', async () => {
    using folder = temporaryFolder();
    const engine = await startFakeEngine(folder.path);
    const { record } = await engine.queue.enqueue(fakeJob('lie', { lie: true }));
    const failed = await waitForEnd(engine, record.id);
    expect(failed.error?.message).toMatch(/has 1000 bytes, the run wrote 1001/);
    expect(engine.check()).toEqual([]);
    await engine.close();
  });

  test('that cannot open says why, once', async () => {
    using folder = temporaryFolder();
    const engine = await startFakeEngine(folder.path, { devices: [{ device: 'fake', options: { refuse: true } }] });
    await expect(engine.supervisor.ready()).rejects.toThrow(new WorkerRefusedError('fake', 'fake is not to be opened'));
    expect(engine.supervisor.workers[0]).toMatchObject({ status: 'stopped', restarts: 0 });
    await engine.close();
  });

  test('that dies while it opens is given up after five tries', async () => {
    using folder = temporaryFolder();
    const engine = await startFakeEngine(folder.path, { devices: [{ device: 'fake', options: { dieAtOpen: true } }] });
    await expect(engine.supervisor.ready()).rejects.toThrow(/exited with code 3/);
    expect(engine.supervisor.workers[0]).toMatchObject({ status: 'stopped', restarts: 4 });
    await engine.close();
  });
});

describe('cancelling', () => {
  test('a running job frees its worker within a second', async () => {
    using folder = temporaryFolder();
    const engine = await startFakeEngine(folder.path);
    const { record } = await engine.queue.enqueue(fakeJob('long', { steps: 1000, stepMs: 50 }));
    await waitForStatus(engine, record.id, ['in_progress']);
    await waitFor(async () => ((await engine.queue.get(record.id))?.progress ? true : null));
    const started = performance.now();
    expect(await engine.queue.cancel(record.id)).toBe('cancelled');
    await waitFor(() => (engine.supervisor.workers[0]?.status === 'idle' ? true : null));
    expect(performance.now() - started).toBeLessThan(1000);
    expect(await engine.queue.get(record.id)).toMatchObject({ status: 'cancelled', artifacts: [] });
    expect(engine.supervisor.workers[0]?.restarts).toBe(0);
    await engine.close();
  });

  test('a job whose worker does not listen costs the worker, not the next job', async () => {
    using folder = temporaryFolder();
    const engine = await startFakeEngine(folder.path, { limits: { stopMs: 200, progressMs: 60_000 } });
    const deaf = await engine.queue.enqueue(fakeJob('deaf', { hangAtStep: 2, deaf: true }));
    await waitFor(async () => ((await engine.queue.get(deaf.record.id))?.progress ? true : null));
    await engine.queue.cancel(deaf.record.id);
    const next = await engine.queue.enqueue(fakeJob('next'));
    expect(await waitForEnd(engine, next.record.id)).toMatchObject({ status: 'completed', crashes: [] });
    expect(engine.supervisor.workers[0]?.lastCrash).toMatch(/did not stop its job/);
    await engine.close();
  });

  test('a deadline ends a running job', async () => {
    using folder = temporaryFolder();
    const engine = await startFakeEngine(folder.path);
    const late = fakeJob('late', { steps: 1000, stepMs: 20 }, { deadlineAt: Date.now() + 500 });
    const { record } = await engine.queue.enqueue(late);
    expect((await waitForEnd(engine, record.id)).error?.code).toBe('timeout');
    await waitFor(() => (engine.supervisor.workers[0]?.status === 'idle' ? true : null));
    await engine.close();
  });
});

describe('stopping', () => {
  test('lets a running job finish when there is time, and gives it back when there is not', async () => {
    using folder = temporaryFolder();
    const first = await startFakeEngine(folder.path);
    const short = await first.queue.enqueue(fakeJob('short', { steps: 5, stepMs: 20 }));
    await waitForStatus(first, short.record.id, ['in_progress']);
    await first.close(10_000);

    const second = await startFakeEngine(folder.path);
    expect(await second.queue.get(short.record.id)).toMatchObject({ status: 'completed', attempts: 1 });
    const long = await second.queue.enqueue(fakeJob('long', { steps: 50, stepMs: 20 }));
    await waitForStatus(second, long.record.id, ['in_progress']);
    await second.close(0);

    const third = await startFakeEngine(folder.path);
    expect(await waitForEnd(third, long.record.id)).toMatchObject({ status: 'completed', attempts: 2, crashes: [] });
    expect(third.check()).toEqual([]);
    await third.close();
  });

  test('a folder serves one engine at a time, and so does a device', async () => {
    using folder = temporaryFolder();
    using other = temporaryFolder();
    const lockFile = join(folder.path, 'device.lock');
    const devices = [{ device: 'fake', options: {}, lockFile }];
    const engine = await startFakeEngine(folder.path, { devices });
    await engine.supervisor.ready();
    await expect(startFakeEngine(folder.path, { lockTimeoutMs: 0 })).rejects.toThrow(LockHeldError);
    const rival = await startFakeEngine(other.path, { devices, limits: { lockMs: 100 } });
    const { pid } = engine.supervisor.workers[0] ?? {};
    await expect(rival.supervisor.ready()).rejects.toThrow(`${lockFile} is locked by process ${pid}`);
    await Promise.all([engine.close(), rival.close()]);
  });
});

test('a follower hears of a job from its place in the queue to its end', async () => {
  using folder = temporaryFolder();
  const engine = await startFakeEngine(folder.path, { events: { placeEveryMs: 1 } });
  const shape = 'a shape';
  const fake = { steps: 10, stepMs: 50, previewEvery: 5 };
  const before = await engine.queue.enqueue(fakeJob('before', fake, { shape }));
  await waitForEnd(engine, before.record.id);
  const [running, waiting] = [
    await engine.queue.enqueue(fakeJob('running', fake, { shape })),
    await engine.queue.enqueue(fakeJob('waiting', fake, { shape })),
  ];
  const events: JobEvent[] = [];
  for await (const event of engine.events.follow({ jobId: waiting.record.id })) events.push(event);
  expect(events.flatMap((event) => (event.type === 'status' ? event.status : []))).toEqual([
    'queued',
    'in_progress',
    'completed',
  ]);
  const ids = events.map(({ id }) => id);
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
  expect(events.findLast((event) => event.type === 'place')).toMatchObject({ place: 1 });
  expect(events.flatMap((event) => (event.type === 'preview' ? [...event.bytes] : []))).toEqual([5, 10]);
  // One run of the shape foretells the next; how well is measured where time is simulated (run-timeline.test.ts).
  const half = events.find((event) => event.type === 'progress' && event.progress.step === 5);
  if (half?.type !== 'progress') throw new Error('no progress was reported');
  expect(half.progress.secondsLeft).toBeGreaterThan(0.2);
  expect(half.progress.secondsLeft).toBeLessThan(5);
  expect((await waitForEnd(engine, running.record.id)).status).toBe('completed');
  await engine.close();
});

async function startAndCheck(folder: string): Promise<readonly string[]> {
  const engine = await startFakeEngine(folder);
  const found = engine.check();
  await engine.close();
  return found;
}
