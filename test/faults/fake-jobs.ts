// Jobs for the fake pipeline, and an engine that runs them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type JobEngine, type JobEngineOptions, openJobEngine } from '../../src/engine/jobs/open-job-engine.js';
import type { JobRecord, JobStatus, JsonObject, NewJob } from '../../src/engine/jobs/types.js';

export const fakeWorker = fileURLToPath(new URL('./fake-worker.mjs', import.meta.url));

/** Everything fast, so that tests see in a second what takes minutes in earnest. */
export const fastLimits = {
  openMs: 20_000,
  lockMs: 10_000,
  beatMs: 50,
  silenceMs: 10_000,
  progressMs: 10_000,
  stopMs: 10_000,
  firstPauseMs: 20,
  longestPauseMs: 200,
  tickMs: 50,
  progressEveryMs: 20,
};

/** A new empty folder, removed when the scope ends. */
export function temporaryFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'orrery-faults-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A job; `fake` says how the pipeline behaves. */
export function fakeJob(prompt: string, fake: JsonObject = {}, more: Partial<NewJob> = {}): NewJob {
  return {
    owner: 'tester',
    kind: 'video',
    requestId: `request-${prompt}`,
    request: { fields: { prompt }, extra: { fake }, inputs: [] },
    plan: null,
    outputs: [{ variant: 'video', kind: 'mp4' }],
    ...more,
  };
}

/** Opens an engine on the fake pipeline and starts its workers. */
export async function startFakeEngine(folder: string, options: Partial<JobEngineOptions> = {}): Promise<JobEngine> {
  const engine = await openJobEngine({
    folder,
    devices: [{ device: 'fake', options: {} }],
    workerEntry: fakeWorker,
    ...options,
    limits: { ...fastLimits, ...options.limits },
  });
  engine.supervisor.start();
  return engine;
}

/** Waits for a job to end. */
export async function waitForEnd(engine: JobEngine, id: string, timeoutMs?: number): Promise<JobRecord> {
  return waitForStatus(engine, id, ['completed', 'failed', 'cancelled'], timeoutMs);
}

export async function waitForStatus(
  engine: JobEngine,
  id: string,
  wanted: readonly JobStatus[],
  timeoutMs?: number,
): Promise<JobRecord> {
  const record = await waitFor(async () => {
    const job = await engine.queue.get(id);
    return job && wanted.includes(job.status) ? job : null;
  }, timeoutMs);
  return record;
}

/** Asks again and again until there is an answer. */
export async function waitFor<T>(ask: () => Promise<T | null> | T | null, timeoutMs = 20_000): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (Date.now() > end) throw new Error(`no answer within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
