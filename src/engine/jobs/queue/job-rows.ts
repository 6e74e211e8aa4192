// Rows of the database as job records, and back.
import { hashJson } from '../../../pipeline/plan/plan-hash.js';
import type { Plan } from '../../../pipeline/plan-types.js';
import type { JobDatabase } from '../database.js';
import type { ArtifactRecord, ArtifactVariant, JobRecord, JobStatus, JobSummary, NewJob } from '../types.js';

export interface JobRow {
  readonly seq: number;
  readonly id: string;
  readonly owner: string;
  readonly kind: string;
  readonly request_id: string;
  readonly idempotency_key: string | null;
  readonly request_hash: string;
  readonly request: string;
  readonly outputs: string;
  readonly status: JobStatus;
  readonly priority: number;
  readonly transient: number;
  readonly created_at: number;
  readonly queued_at: number;
  readonly started_at: number | null;
  readonly completed_at: number | null;
  readonly deadline_at: number | null;
  readonly lifetime: number | null;
  readonly expires_at: number | null;
  readonly waited: number;
  readonly attempts: number;
  readonly crashes: string;
  readonly progress: string | null;
  readonly timings: string | null;
  readonly error: string | null;
  readonly result: string | null;
  readonly epoch: number;
  readonly shape: string | null;
  readonly summary: string | null;
}

interface ArtifactRow {
  readonly id: string;
  readonly job_id: string;
  readonly variant: ArtifactVariant;
  readonly position: number;
  readonly media_type: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly file: string;
  readonly created_at: number;
}

// Everything but the plan, which is long and read alone.
export const jobColumns = `seq, id, owner, kind, request_id, idempotency_key, request_hash, request, outputs, status,
  priority, transient, created_at, queued_at, started_at, completed_at, deadline_at, lifetime, expires_at, waited,
  attempts, crashes, progress, timings, error, result, epoch, shape, summary`;

/** The row of a job. */
export function readRow(database: JobDatabase, id: string): JobRow | undefined {
  return database.get<JobRow>(`SELECT ${jobColumns} FROM jobs WHERE id = :id`, { id });
}

/** The record of a row, its artifacts included. */
export function toRecord(database: JobDatabase, row: JobRow): JobRecord {
  return {
    id: row.id,
    owner: row.owner,
    kind: row.kind,
    requestId: row.request_id,
    idempotencyKey: row.idempotency_key,
    request: JSON.parse(row.request),
    outputs: JSON.parse(row.outputs),
    summary: parse(row.summary),
    status: row.status,
    priority: row.priority,
    transient: row.transient === 1,
    createdAt: row.created_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    deadlineAt: row.deadline_at,
    expiresAt: row.expires_at,
    progress: parse(row.progress),
    timings: parse(row.timings),
    error: parse(row.error),
    attempts: row.attempts,
    crashes: JSON.parse(row.crashes),
    result: parse(row.result),
    artifacts: row.status === 'completed' ? artifactsOf(database, row.id) : [],
  };
}

/** The artifacts of a job, each variant in its order. */
export function artifactsOf(database: JobDatabase, jobId: string): ArtifactRecord[] {
  const rows = database.all<ArtifactRow>(
    'SELECT * FROM artifacts WHERE job_id = :jobId ORDER BY variant, position, id',
    { jobId },
  );
  return rows.map((row) => ({
    id: row.id,
    jobId: row.job_id,
    variant: row.variant,
    index: row.position,
    mediaType: row.media_type,
    bytes: row.bytes,
    sha256: row.sha256,
    file: row.file,
    createdAt: row.created_at,
  }));
}

/** Tells requests apart: what is asked for, not who asks. */
export function hashRequest({ kind, request, outputs }: NewJob): string {
  return hashJson({ kind, request, outputs });
}

/** What lists show of a plan. */
export function summarise({
  task,
  content,
  frames,
  fps,
  steps,
  guidance,
  schedule,
  seed,
  sound,
  action,
}: Plan): JobSummary {
  return {
    task,
    ...content,
    frames,
    fps,
    steps,
    guidance: guidance.scale,
    flowShift: schedule.solver === 'unipc' ? schedule.flowShift : null,
    seed,
    hasSound: sound !== null,
    hasAction: action !== null,
  };
}

/** Prompts are searched by this much of them. */
const searched = 2000;

/** What a search looks through: the prompt in lower case. */
export function searchWords({ request: { fields, extra } }: Pick<NewJob, 'request'>): string {
  const prompt = extra.prompt ?? fields.prompt;
  return typeof prompt === 'string' ? prompt.slice(0, searched).toLowerCase() : '';
}

function parse<T>(text: string | null): T | null {
  return text === null ? null : JSON.parse(text);
}
