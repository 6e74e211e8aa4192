// The job queue on the embedded database: each method is one transaction, on disk when its promise resolves.
import { randomUUID } from 'node:crypto';
import type { Plan } from '../../../pipeline/plan-types.js';
import type { JobDatabase } from '../database.js';
import { IdempotencyConflictError, QueueFullError } from '../errors.js';
import { shapeOf } from '../run-timeline.js';
import type {
  ClaimedJob,
  Expired,
  JobChange,
  JobError,
  JobOutcome,
  JobPage,
  JobProgress,
  JobQueue,
  JobRecord,
  JobStatus,
  Lease,
  ListQuery,
  NewJob,
  QueueCounts,
  QueuePlace,
} from '../types.js';
import { ChangeFeed } from './change-feed.js';
import { type ExpiryOptions, expireJobs } from './expire-jobs.js';
import { insertJob } from './insert-job.js';
import { artifactsOf, hashRequest, type JobRow, jobColumns, readRow, summarise, toRecord } from './job-rows.js';
import { endJob, type LeasedRow, leasedRow, requeue, retryAfterSeconds } from './job-states.js';
import { listJobs } from './list-jobs.js';

export interface QueueOptions {
  /** Jobs that may wait; further ones are refused. */
  readonly limit?: number | undefined;
  /** How long a lease holds without a heartbeat. */
  readonly leaseMs?: number | undefined;
  /** A job fails when its worker has died under it this often. */
  readonly maxCrashes?: number | undefined;
  /** How long finished jobs are kept; for ever where absent. */
  readonly lifetimeSeconds?: number | undefined;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

/** From this priority on a job goes before those of all owners: something moves while it waits. */
const urgent = 10;

// Owners take turns, each with its own most important job; one that has already run once does not queue up again.
const order = `
  (w.priority >= ${urgent}) DESC, (w.attempts > 0) DESC, w.turn, coalesce(r.running, 0), coalesce(o.served, 0), w.seq`;
const waiting = `
  FROM (
    SELECT seq, id, owner, priority, attempts, shape,
      row_number() OVER (PARTITION BY priority >= ${urgent}, owner ORDER BY priority DESC, seq) AS turn
    FROM jobs INDEXED BY jobs_waiting WHERE status = 'queued'
  ) AS w
  LEFT JOIN owners AS o ON o.owner = w.owner
  LEFT JOIN (SELECT owner, count(*) AS running FROM jobs WHERE status = 'in_progress' GROUP BY owner) AS r
    ON r.owner = w.owner`;

export class SqliteQueue implements JobQueue {
  readonly #database: JobDatabase;
  readonly #options: { readonly limit: number; readonly leaseMs: number; readonly maxCrashes: number };
  readonly #lifetimeSeconds: number | null;
  readonly #now: () => number;
  readonly #feed = new ChangeFeed();

  constructor(database: JobDatabase, options: QueueOptions = {}) {
    this.#database = database;
    const { limit = 1000, leaseMs = 30_000, maxCrashes = 2 } = options;
    this.#options = { limit, leaseMs, maxCrashes };
    this.#lifetimeSeconds = options.lifetimeSeconds ?? null;
    this.#now = options.now ?? Date.now;
  }

  async enqueue(job: NewJob): Promise<{ readonly record: JobRecord; readonly created: boolean }> {
    const hash = hashRequest(job);
    return this.#transact((change) => {
      const known = this.#findByKey(job);
      if (known) {
        if (known.request_hash !== hash) throw new IdempotencyConflictError(job.idempotencyKey ?? '', known.id);
        return { record: toRecord(this.#database, known), created: false };
      }
      this.#checkRoom(job.owner);
      const id = job.id ?? `job_${randomUUID().replaceAll('-', '')}`;
      const lifetimeSeconds = this.#lifetimeSeconds;
      insertJob(this.#database, job, { id, hash, now: this.#now(), lifetimeSeconds });
      change({ id, owner: job.owner, change: 'queued' });
      return { record: this.#record(id), created: true };
    }, true);
  }

  async claim(worker: string): Promise<ClaimedJob | null> {
    const now = this.#now();
    return this.#transact((change) => {
      const next = this.#database.get<{ id: string }>(`SELECT w.id AS id ${waiting} ORDER BY ${order} LIMIT 1`);
      const row = next && readRow(this.#database, next.id);
      if (!row) return null;
      const { id, owner } = row;
      const epoch = row.epoch + 1;
      this.#database.run(
        `UPDATE jobs SET status = 'in_progress', epoch = :epoch, worker = :worker, lease_until = :until,
           attempts = attempts + 1, started_at = :now, waited = waited + max(0, :now - queued_at), progress = NULL
         WHERE id = :id`,
        { id, epoch, worker, now, until: now + this.#options.leaseMs },
      );
      this.#database.run(
        `INSERT INTO owners (owner, served) VALUES (:owner, (SELECT coalesce(max(served), 0) + 1 FROM owners))
         ON CONFLICT (owner) DO UPDATE SET served = excluded.served`,
        { owner },
      );
      change({ id, owner, change: 'started' });
      return { lease: { jobId: id, epoch }, record: this.#record(id), plan: this.#plan(id), shape: row.shape };
    });
  }

  async heartbeat(leases: readonly Lease[]): Promise<readonly Lease[]> {
    const until = this.#now() + this.#options.leaseMs;
    return this.#database.transact(() =>
      leases.filter(({ jobId, epoch }) => this.#updateLeased({ jobId, epoch }, 'lease_until = :until', { until })),
    );
  }

  async progress(lease: Lease, progress: JobProgress): Promise<boolean> {
    return this.#updateLeased(lease, 'progress = :progress', { progress: JSON.stringify(progress) });
  }

  async recordPlan(lease: Lease, plan: Plan): Promise<boolean> {
    return this.#updateLeased(
      lease,
      'plan = :plan, shape = coalesce(shape, :shape), task = :task, summary = :summary',
      {
        plan: JSON.stringify(plan),
        shape: shapeOf(plan),
        task: plan.task,
        summary: JSON.stringify(summarise(plan)),
      },
    );
  }

  async complete(lease: Lease, outcome: JobOutcome): Promise<boolean> {
    return this.#withLease(lease, (row, change) => {
      const now = this.#now();
      for (const { index, ...artifact } of outcome.artifacts) {
        const { id, variant, mediaType, bytes, sha256, file } = artifact;
        this.#database.run(
          `INSERT INTO artifacts (id, job_id, variant, position, media_type, bytes, sha256, file, created_at)
           VALUES (:id, :jobId, :variant, :index, :mediaType, :bytes, :sha256, :file, :now)`,
          { id, jobId: row.id, variant, index, mediaType, bytes, sha256, file, now },
        );
      }
      const { result, phases, peakMemoryMb } = outcome;
      endJob(this.#database, row, { status: 'completed', now, result, phases, peakMemoryMb });
      change({ id: row.id, owner: row.owner, change: 'completed' });
    });
  }

  async fail(lease: Lease, error: Omit<JobError, 'crashes'>): Promise<boolean> {
    return this.#withLease(lease, (row, change) => {
      endJob(this.#database, row, { status: 'failed', now: this.#now(), error });
      change({ id: row.id, owner: row.owner, change: 'failed' });
    });
  }

  async crashed(lease: Lease, reason: string): Promise<'queued' | 'failed' | 'lost'> {
    let state: 'queued' | 'failed' | 'lost' = 'lost';
    await this.#withLease(lease, (row, change) => {
      const crashes = [...(JSON.parse(row.crashes) as string[]), reason];
      const noted = { ...row, crashes: JSON.stringify(crashes) };
      state = crashes.length < this.#options.maxCrashes ? 'queued' : 'failed';
      this.#database.run('UPDATE jobs SET crashes = :crashes WHERE id = :id', { id: row.id, crashes: noted.crashes });
      if (state === 'queued') requeue(this.#database, row, this.#now());
      else {
        const message = `The worker died ${crashes.length} times under this job, the last time: ${reason}`;
        const error = { code: 'internal_error', param: null, message };
        endJob(this.#database, noted, { status: 'failed', now: this.#now(), error });
      }
      change({ id: row.id, owner: row.owner, change: state });
    });
    return state;
  }

  async release(lease: Lease): Promise<boolean> {
    return this.#withLease(lease, (row, change) => {
      requeue(this.#database, row, this.#now());
      change({ id: row.id, owner: row.owner, change: 'queued' });
    });
  }

  async retry(id: string): Promise<boolean> {
    return this.#transact((change) => {
      const row = readRow(this.#database, id);
      if (!row || (row.status !== 'failed' && row.status !== 'cancelled')) return false;
      const { n = 0 } =
        this.#database.get<{ n: number }>(
          `SELECT count(*) AS n FROM inputs LEFT JOIN uploads USING (sha256)
           WHERE job_id = :id AND uploads.file IS NULL`,
          { id },
        ) ?? {};
      if (n > 0) return false;
      this.#database.run(
        `UPDATE jobs SET crashes = '[]', error = NULL, completed_at = NULL, timings = NULL, attempts = 0,
           deadline_at = NULL, status = 'queued', queued_at = :now WHERE id = :id`,
        { id, now: this.#now() },
      );
      change({ id, owner: row.owner, change: 'queued' });
      return true;
    });
  }

  async cancel(id: string): Promise<JobStatus | 'unknown'> {
    return this.#transact((change) => {
      const row = readRow(this.#database, id);
      if (!row) return 'unknown';
      if (row.status !== 'queued' && row.status !== 'in_progress') return row.status;
      endJob(this.#database, row, { status: 'cancelled', now: this.#now() });
      change({ id, owner: row.owner, change: 'cancelled' });
      return 'cancelled';
    });
  }

  async get(id: string): Promise<JobRecord | null> {
    const row = readRow(this.#database, id);
    return row ? toRecord(this.#database, row) : null;
  }

  async plan(id: string): Promise<Plan | null> {
    return this.#plan(id);
  }

  async list(query: ListQuery): Promise<JobPage> {
    return listJobs(this.#database, query);
  }

  async delete(id: string): Promise<readonly string[] | 'unknown' | 'busy'> {
    return this.#transact((change) => {
      const row = readRow(this.#database, id);
      if (!row) return 'unknown';
      if (row.status === 'queued' || row.status === 'in_progress') return 'busy';
      const files = artifactsOf(this.#database, id).map(({ file }) => file);
      this.#database.run('DELETE FROM jobs WHERE id = :id', { id });
      change({ id, owner: row.owner, change: 'deleted' });
      return files;
    });
  }

  async places(): Promise<readonly QueuePlace[]> {
    const rows = this.#database.all<{ id: string; owner: string; shape: string | null }>(
      `SELECT w.id AS id, w.owner AS owner, w.shape AS shape ${waiting} ORDER BY ${order}`,
    );
    return rows.map(({ id, owner, shape }, i) => ({ jobId: id, owner, place: i + 1, shape }));
  }

  async counts(): Promise<QueueCounts> {
    const rows = this.#database.all<{ status: JobStatus; n: number }>(
      'SELECT status, count(*) AS n FROM jobs GROUP BY status',
    );
    const of = (status: JobStatus) => rows.find((row) => row.status === status)?.n ?? 0;
    return {
      queued: of('queued'),
      inProgress: of('in_progress'),
      completed: of('completed'),
      failed: of('failed'),
      cancelled: of('cancelled'),
    };
  }

  async expire(options: ExpiryOptions = {}): Promise<Expired> {
    this.#database.restoreReserve();
    return this.#transact((change) => expireJobs(this.#database, this.#now(), options, change));
  }

  subscribe(listener: (change: JobChange) => void): () => void {
    return this.#feed.subscribe(listener);
  }

  /** Runs one transaction; changes are told once it is on disk. */
  #transact<T>(body: (change: (change: JobChange) => void) => T, isNew = false): T {
    const changes: JobChange[] = [];
    const result = this.#database.transact(() => {
      // A second attempt tells its own changes.
      changes.length = 0;
      return body((change) => changes.push(change));
    }, isNew);
    for (const change of changes) this.#feed.tell(change);
    return result;
  }

  #withLease(lease: Lease, body: (row: LeasedRow, change: (change: JobChange) => void) => void): boolean {
    return this.#transact((change) => {
      const row = leasedRow(this.#database, lease);
      if (row) body(row, change);
      return row !== undefined;
    });
  }

  #updateLeased({ jobId, epoch }: Lease, set: string, values: Readonly<Record<string, string | number>>): boolean {
    const sql = `UPDATE jobs SET ${set} WHERE id = :jobId AND epoch = :epoch AND status = 'in_progress'`;
    return this.#database.transact(() => this.#database.run(sql, { jobId, epoch, ...values }) === 1);
  }

  /** An owner may fill the queue, but not keep others from their share of it. @throws QueueFullError */
  #checkRoom(owner: string): void {
    const { limit } = this.#options;
    const waits = this.#database.get<{ n: number; own: number; owners: number }>(
      `SELECT count(*) AS n, count(*) FILTER (WHERE owner = :owner) AS own, count(DISTINCT owner) AS owners
       FROM jobs WHERE status = 'queued'`,
      { owner },
    );
    const { n, own, owners } = waits ?? { n: 0, own: 0, owners: 0 };
    const share = limit / (owners + (own === 0 ? 1 : 0));
    if (n >= limit && own + 1 > share) throw new QueueFullError(limit, retryAfterSeconds(this.#database));
  }

  #findByKey({ owner, idempotencyKey }: NewJob): JobRow | undefined {
    if (idempotencyKey === undefined) return undefined;
    return this.#database.get<JobRow>(
      `SELECT ${jobColumns} FROM jobs WHERE owner = :owner AND idempotency_key = :key`,
      { owner, key: idempotencyKey },
    );
  }

  #record(id: string): JobRecord {
    const row = readRow(this.#database, id);
    if (!row) throw new Error(`job ${id} vanished inside its own transaction`);
    return toRecord(this.#database, row);
  }

  #plan(id: string): Plan | null {
    const row = this.#database.get<{ plan: string | null }>('SELECT plan FROM jobs WHERE id = :id', { id });
    return row?.plan ? JSON.parse(row.plan) : null;
  }
}
