// What must hold after a storm of kills.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openJobEngine } from '../../src/engine/jobs/open-job-engine.js';
import type { JobRecord } from '../../src/engine/jobs/types.js';
import { type CrashPlan, runCrashes, stormJob } from './crash-run.js';
import { fakeWorker, waitFor } from './fake-jobs.js';

/** Runs a storm and checks that nothing was lost, doubled, left behind or wrongly failed. Gives a line of figures. */
export async function expectSurvival(plan: CrashPlan): Promise<string> {
  const started = performance.now();
  const report = await runCrashes(plan);
  expect(report.accepted.size).toBe(plan.jobs);
  expect(report.doubled).toEqual([]);

  // Opened without workers: what is there now is what the storm left.
  const engine = await openJobEngine({ folder: plan.folder, devices: [], workerEntry: fakeWorker });
  try {
    expect(engine.check()).toEqual([]);
    const { jobs } = await engine.queue.list({ limit: 1000 });
    expect(jobs.map(({ id }) => id).sort()).toEqual([...report.accepted.values()].sort());
    const byId = new Map(jobs.map((job) => [job.id, job]));
    for (let i = 0; i < plan.jobs; i++) {
      const { key, prompt, bytes } = stormJob(i);
      const job = byId.get(report.accepted.get(key) ?? '');
      expect(job?.status).toMatch(/^(completed|failed)$/);
      if (job?.status === 'completed') expectResult(plan.folder, job, prompt, bytes);
      else if (job) expectFairFailure(job, report.killedWorkers);
    }
    const completed = jobs.filter(({ status }) => status === 'completed');
    expect(completed.length).toBeGreaterThanOrEqual(plan.jobs * 0.95);
    expect(await engine.artifacts.list()).toEqual(completed.flatMap(filesOf).sort());
    expect(stagedFiles(plan.folder)).toEqual([]);
    await waitFor(() => ([...report.pids].every(isDead) ? true : null), 5_000);
    const again = jobs.filter(({ attempts }) => attempts > 1).length;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    return `${completed.length} of ${plan.jobs} jobs completed, ${again} of them in several attempts, through the death of ${report.engineKills} engines and ${report.killedWorkers.size} workers, in ${seconds} s`;
  } finally {
    await engine.close();
  }
}

function expectResult(folder: string, job: JobRecord, prompt: string, bytes: number): void {
  expect(job.artifacts).toHaveLength(1);
  const content = readFileSync(join(folder, 'artifacts', filesOf(job)[0] ?? ''));
  const expected = Buffer.alloc(bytes, createHash('sha256').update(prompt).digest());
  expect(content.equals(expected), `content of ${prompt}`).toBe(true);
}

/** A job may fail only when two of the workers that were killed died under it. */
function expectFairFailure(job: JobRecord, killedWorkers: ReadonlySet<number>): void {
  expect(job.crashes).toHaveLength(2);
  const pids = job.crashes.map((reason) => Number(/^worker (\d+) was killed by SIGKILL$/.exec(reason)?.[1]));
  expect(
    pids.every((pid) => killedWorkers.has(pid)),
    job.crashes.join(', '),
  ).toBe(true);
}

function filesOf({ artifacts }: JobRecord): string[] {
  return artifacts.map(({ file }) => file);
}

function stagedFiles(folder: string): string[] {
  return readdirSync(folder).includes('staging') ? readdirSync(join(folder, 'staging')) : [];
}

function isDead(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
