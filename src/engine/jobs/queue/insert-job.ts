// Writes a new job down, inside a transaction of the caller.
import type { JobDatabase } from '../database.js';
import { UnknownUploadError } from '../errors.js';
import { shapeOf } from '../run-timeline.js';
import type { NewJob } from '../types.js';
import { searchWords, summarise } from './job-rows.js';

/** What the queue settles of a new job. */
export interface Insertion {
  readonly id: string;
  /** Of the request. */
  readonly hash: string;
  readonly now: number;
  /** How long finished jobs are kept; null for ever. */
  readonly lifetimeSeconds: number | null;
}

/** How long the record of a job is kept whose caller waited on the line. */
const transientLifetimeSeconds = 3600;

/** Inserts a waiting job and what it reads. @throws UnknownUploadError */
export function insertJob(database: JobDatabase, job: NewJob, { id, hash, now, lifetimeSeconds }: Insertion): void {
  const { plan } = job;
  const transient = job.transient === true;
  const lifetime = job.lifetimeSeconds ?? (transient ? transientLifetimeSeconds : lifetimeSeconds);
  database.run(
    `INSERT INTO jobs (id, owner, kind, request_id, idempotency_key, request_hash, request, outputs, plan, shape, task,
       words, summary, status, priority, transient, created_at, queued_at, deadline_at, lifetime, expires_at)
     VALUES (:id, :owner, :kind, :requestId, :key, :hash, :request, :outputs, :plan, :shape, :task,
       :words, :summary, 'queued', :priority, :transient, :now, :now, :deadlineAt, :lifetime, :expiresAt)`,
    {
      id,
      owner: job.owner,
      kind: job.kind,
      requestId: job.requestId,
      key: job.idempotencyKey ?? null,
      hash,
      request: JSON.stringify(job.request),
      outputs: JSON.stringify(job.outputs),
      plan: plan === null ? null : JSON.stringify(plan),
      shape: job.shape ?? (plan === null ? null : shapeOf(plan)),
      task: plan?.task ?? null,
      words: searchWords(job),
      summary: plan === null ? null : JSON.stringify(summarise(plan)),
      priority: job.priority ?? 0,
      transient: transient ? 1 : 0,
      now,
      deadlineAt: job.deadlineAt ?? null,
      lifetime,
      expiresAt: lifetime === null ? null : now + lifetime * 1000,
    },
  );
  for (const { role, sha256 } of job.request.inputs) {
    if (database.get('SELECT 1 FROM uploads WHERE sha256 = :sha256', { sha256 }) === undefined) {
      throw new UnknownUploadError(sha256);
    }
    database.run('INSERT INTO inputs (job_id, role, sha256) VALUES (:id, :role, :sha256)', { id, role, sha256 });
  }
}
