// Changes of a job's state, inside a transaction of the caller.
import type { JobDatabase } from '../database.js';
import type { JobError, JobOutcome, JobTimings, Lease } from '../types.js';
import { type JobRow, readRow } from './job-rows.js';

/** The row of a running job whose lease was checked. */
export type LeasedRow = JobRow;

/** The job that a lease is for; undefined when the lease is lost. */
export function leasedRow(database: JobDatabase, { jobId, epoch }: Lease): LeasedRow | undefined {
  const row = readRow(database, jobId);
  return row?.status === 'in_progress' && row.epoch === epoch ? row : undefined;
}

/** Puts a running job back at its old place. */
export function requeue(database: JobDatabase, { id }: JobRow, now: number): void {
  database.run(
    `UPDATE jobs SET status = 'queued', queued_at = :now, started_at = NULL, worker = NULL, lease_until = NULL,
       progress = NULL WHERE id = :id`,
    { id, now },
  );
}

/** How a job ends. */
export interface Ending {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly now: number;
  readonly error?: Omit<JobError, 'crashes'>;
  readonly result?: JobOutcome['result'];
  readonly phases?: JobTimings['phases'];
  readonly peakMemoryMb?: number;
}

/** Ends a waiting or running job. Its lifetime counts from here. */
export function endJob(database: JobDatabase, row: JobRow, ending: Ending): void {
  const { status, now, error, result = null, phases = {}, peakMemoryMb = 0 } = ending;
  const idle = row.status === 'queued' ? Math.max(0, now - row.queued_at) : 0;
  const timings: JobTimings = {
    queued: (row.waited + idle) / 1000,
    total: row.started_at === null ? 0 : Math.max(0, now - row.started_at) / 1000,
    phases,
    peakMemoryMb,
  };
  const crashes: string[] = JSON.parse(row.crashes);
  database.run(
    `UPDATE jobs SET status = :status, completed_at = :now, error = :error, result = :result, timings = :timings,
       worker = NULL, lease_until = NULL,
       expires_at = CASE WHEN lifetime IS NULL THEN expires_at ELSE :now + lifetime * 1000 END,
       progress = CASE WHEN :status = 'completed' THEN NULL ELSE progress END
     WHERE id = :id`,
    {
      id: row.id,
      status,
      now,
      error: error === undefined ? null : JSON.stringify({ ...error, crashes }),
      result: result === null ? null : JSON.stringify(result),
      timings: JSON.stringify(timings),
    },
  );
}

/** Recent jobs that say how fast places become free. */
const sample = 20;
const longestRetrySeconds = 3600;

/** When a place in a full queue is likely to be free: the mean time of the latest jobs over the number that run now. */
export function retryAfterSeconds(database: JobDatabase): number {
  const recent = database.get<{ seconds: number | null }>(
    `SELECT avg(completed_at - started_at) / 1000 AS seconds FROM (
       SELECT started_at, completed_at FROM jobs WHERE status = 'completed' ORDER BY completed_at DESC LIMIT ${sample})`,
  );
  const running = database.get<{ n: number }>(`SELECT count(*) AS n FROM jobs WHERE status = 'in_progress'`)?.n ?? 0;
  const seconds = Math.ceil((recent?.seconds ?? 10) / Math.max(1, running));
  return Math.min(longestRetrySeconds, Math.max(1, seconds));
}
