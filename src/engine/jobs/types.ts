// Jobs as the rest of the program sees them: records, the queue, the store of artifacts, events and the supervisor.
// Times are milliseconds since 1970 unless their name says seconds.
import type { Plan } from '../../pipeline/plan-types.js';
import type { ComputedKind } from '../../pipeline/request.js';
import type { OutputKind } from '../outputs/output-target.js';

export type { ArtifactStore, ByteRange, UploadRecord, UploadStore } from './stores.js';
export type { Supervisor, WorkerState, WorkerStatus } from './worker-state.js';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

export type JobStatus = 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled';

/** What a job asks for, in the door's form: wire words, and inputs by their content. */
export interface JobRequest {
  readonly fields: JsonObject;
  /** Extra parameters; they win over fields of the same name. */
  readonly extra: JsonObject;
  readonly inputs: readonly JobInput[];
}

/** An uploaded or fetched file that a job reads. */
export interface JobInput {
  /** `image`, `video`, or the name of a control hint. */
  readonly role: string;
  readonly sha256: string;
}

/** A control map that the job made from its input clip. */
export type ControlVariant = `control_${ComputedKind}`;

/** What a client calls an artifact. */
export type ArtifactVariant = 'video' | 'image' | 'sound' | 'action' | 'latents' | 'thumbnail' | ControlVariant;

/** One file that a job is to make. */
export interface JobOutput {
  readonly variant: ArtifactVariant;
  readonly kind: OutputKind;
}

export type JobPhase = 'load' | 'text' | 'encode' | 'denoise' | 'decode' | 'write';

/** How far a job is. */
export interface JobProgress {
  readonly phase: JobPhase;
  /** Finished steps of the chunk. */
  readonly step: number;
  readonly steps: number;
  readonly chunk: number;
  readonly chunks: number;
  /** 0 … 1 over the whole job. */
  readonly fraction: number;
  /** Until the end of the job; null while nothing is known of its shape. */
  readonly secondsLeft: number | null;
}

/** Where the time and memory went. Seconds; phases that did not happen are absent. */
export interface JobTimings {
  /** Waited in the queue, all waits of all attempts together. */
  readonly queued: number;
  /** From the last start to the end. */
  readonly total: number;
  readonly phases: Readonly<Partial<Record<JobPhase, number>>>;
  /** Most resident memory of the worker while it ran the job; 0 where unknown. */
  readonly peakMemoryMb: number;
}

/** Why a job failed. */
export interface JobError {
  /** A coded error of the wire protocol. */
  readonly code: string;
  /** Field at fault, where there is one. */
  readonly param: string | null;
  readonly message: string;
  /** How its worker died, one entry for each time. */
  readonly crashes: readonly string[];
}

/** A file of record. */
export interface ArtifactRecord {
  readonly id: string;
  readonly jobId: string;
  readonly variant: ArtifactVariant;
  /** Counts artifacts of one variant, from 0. */
  readonly index: number;
  readonly mediaType: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Name in the store. */
  readonly file: string;
  readonly createdAt: number;
}

/** What a plan says of a result, in short. */
export interface JobSummary {
  readonly task: string;
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly fps: number;
  readonly steps: number;
  readonly guidance: number;
  /** Null where the checkpoint has fixed steps. */
  readonly flowShift: number | null;
  readonly seed: number;
  readonly hasSound: boolean;
  readonly hasAction: boolean;
}

export interface JobRecord {
  readonly id: string;
  /** Who it belongs to: the hash of an API key, or any other name for a caller. */
  readonly owner: string;
  /** Which route made it; lists are kept apart by it. */
  readonly kind: string;
  /** The HTTP request that made it. */
  readonly requestId: string;
  readonly idempotencyKey: string | null;
  readonly request: JobRequest;
  readonly outputs: readonly JobOutput[];
  /** Of its plan; null until it has one. */
  readonly summary: JobSummary | null;
  readonly status: JobStatus;
  /** Higher runs first. */
  readonly priority: number;
  /** Its caller waits on the line: it is dropped at a restart and not listed. */
  readonly transient: boolean;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly completedAt: number | null;
  /** Fails with `timeout` when not done by then. */
  readonly deadlineAt: number | null;
  /** Removed with its artifacts after this. */
  readonly expiresAt: number | null;
  readonly progress: JobProgress | null;
  readonly timings: JobTimings | null;
  readonly error: JobError | null;
  /** Times it was started. */
  readonly attempts: number;
  /** How its worker died under it, in order. */
  readonly crashes: readonly string[];
  /** Small outcomes: actions, facts of the clip, warnings. */
  readonly result: JsonObject | null;
  readonly artifacts: readonly ArtifactRecord[];
}

/** A job to be accepted. */
export interface NewJob {
  /** Chosen by the queue where absent. */
  readonly id?: string;
  readonly owner: string;
  readonly kind: string;
  readonly requestId: string;
  readonly request: JobRequest;
  /** The plan made at the door; null where the worker makes it. */
  readonly plan: Plan | null;
  readonly outputs: readonly JobOutput[];
  /** What jobs of about the same length have in common; made from the plan where absent. */
  readonly shape?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly priority?: number | undefined;
  readonly transient?: boolean | undefined;
  readonly deadlineAt?: number | undefined;
  /** How long the record and its artifacts are kept after the job was accepted; the queue's default where absent. */
  readonly lifetimeSeconds?: number | undefined;
}

/** The right to work on a job. Only the newest epoch's holder can end the job. */
export interface Lease {
  readonly jobId: string;
  readonly epoch: number;
}

export interface ClaimedJob {
  readonly lease: Lease;
  readonly record: JobRecord;
  readonly plan: Plan | null;
  readonly shape: string | null;
}

/** What a run of a job gave. */
export interface JobOutcome {
  readonly artifacts: readonly Omit<ArtifactRecord, 'jobId' | 'createdAt'>[];
  readonly result: JsonObject | null;
  readonly phases: JobTimings['phases'];
  readonly peakMemoryMb: number;
}

export interface ListQuery {
  /** Only jobs of this owner. */
  readonly owner?: string | undefined;
  /** Only jobs that have ended, at this time or later. */
  readonly endedFrom?: number | undefined;
  readonly kind?: string | undefined;
  readonly status?: JobStatus | undefined;
  /** Only jobs in one of these states. */
  readonly statuses?: readonly JobStatus[] | undefined;
  readonly tasks?: readonly string[] | undefined;
  /** Text that the prompt must hold, all of it; upper and lower case are the same. */
  readonly words?: readonly string[] | undefined;
  /** Accepted at or after this. */
  readonly createdFrom?: number | undefined;
  /** Accepted before this. */
  readonly createdBefore?: number | undefined;
  /** Also counts the jobs of all pages. */
  readonly counts?: boolean | undefined;
  /** The id of the last job of the page before; an unknown one gives an empty page. */
  readonly after?: string | undefined;
  /** 0 … 1000; 20 by default. */
  readonly limit?: number | undefined;
  /** By time of acceptance; newest first (`desc`) by default. */
  readonly order?: 'asc' | 'desc' | undefined;
}

export interface JobPage {
  readonly jobs: readonly JobRecord[];
  readonly hasMore: boolean;
  /** Jobs that match on all pages; null where it was not asked for. */
  readonly total: number | null;
}

/** What happened to a job in the queue. */
export interface JobChange {
  readonly id: string;
  readonly owner: string;
  readonly change: 'queued' | 'started' | 'completed' | 'failed' | 'cancelled' | 'deleted';
}

/** What an expiry removed: names of artifact files that are no longer of record. */
export interface Expired {
  readonly jobs: readonly string[];
  readonly files: readonly string[];
}

/** A waiting job in the order in which jobs will run. */
export interface QueuePlace {
  readonly jobId: string;
  readonly owner: string;
  /** 1 = next. */
  readonly place: number;
  readonly shape: string | null;
}

export interface QueueCounts {
  readonly queued: number;
  readonly inProgress: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
}

/**
 * The queue of jobs. Every method is one atomic step; when its promise resolves, the change is on disk.
 * Nothing here needs the callers to live in one process.
 */
export interface JobQueue {
  /**
   * Accepts a job. The same owner and idempotency key give the job accepted before (`created: false`).
   * @throws QueueFullError, IdempotencyConflictError (same key, other request), UnknownUploadError
   */
  enqueue(job: NewJob): Promise<{ readonly record: JobRecord; readonly created: boolean }>;
  /** Takes the next job: urgent ones first (priority 10 and more), owners in turn, of each the highest priority, then the oldest.
   * Null when none waits. */
  claim(worker: string): Promise<ClaimedJob | null>;
  /** Prolongs leases; gives those that still hold. */
  heartbeat(leases: readonly Lease[]): Promise<readonly Lease[]>;
  /** Writes progress down. False when the lease is lost. */
  progress(lease: Lease, progress: JobProgress): Promise<boolean>;
  /** Writes down the plan that the worker made. */
  recordPlan(lease: Lease, plan: Plan): Promise<boolean>;
  /** Ends a job well, with its artifacts, in one step. False when the lease is lost: then nothing is recorded. */
  complete(lease: Lease, outcome: JobOutcome): Promise<boolean>;
  /** Ends a job badly. False when the lease is lost. */
  fail(lease: Lease, error: Omit<JobError, 'crashes'>): Promise<boolean>;
  /** The worker died under the job: it waits again, at its old place, or fails the second time. */
  crashed(lease: Lease, reason: string): Promise<'queued' | 'failed' | 'lost'>;
  /** Gives a job back unharmed: it waits again, at its old place. */
  release(lease: Lease): Promise<boolean>;
  /** Puts a failed or cancelled job back into the queue. False when it is in another state or its inputs are gone. */
  retry(id: string): Promise<boolean>;
  /** Ends a waiting or running job at once; whoever works on it has lost its lease. Gives the job's state afterwards. */
  cancel(id: string): Promise<JobStatus | 'unknown'>;
  get(id: string): Promise<JobRecord | null>;
  plan(id: string): Promise<Plan | null>;
  list(query: ListQuery): Promise<JobPage>;
  /** Removes a finished job and gives the names of its files; `busy` while it waits or runs. */
  delete(id: string): Promise<readonly string[] | 'unknown' | 'busy'>;
  /** The waiting jobs in order. */
  places(): Promise<readonly QueuePlace[]>;
  counts(): Promise<QueueCounts>;
  /**
   * Fails what is past its deadline, takes back what nobody prolongs, removes what is past its lifetime.
   * @param abandonAll takes back all running jobs and drops transient ones: for the start of the only server on this store
   */
  expire(options?: { readonly abandonAll?: boolean }): Promise<Expired>;
  /** Told of each change made through this object. Returns how to stop listening. */
  subscribe(listener: (change: JobChange) => void): () => void;
}

/** A small picture on the way to a result. */
export interface JobPreview {
  /** Finished steps of the chunk. */
  readonly step: number;
  readonly steps: number;
  /** Which frame of the result it shows. */
  readonly frame: number;
  readonly width: number;
  readonly height: number;
  /** Decoded like the result; no further one comes. */
  readonly final: boolean;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

export type JobEventType = 'status' | 'place' | 'progress' | 'preview' | 'deleted';

interface JobEventFields {
  /** Rises over all jobs and restarts. */
  readonly id: number;
  readonly jobId: string;
  readonly owner: string;
  readonly at: number;
}

export type JobEvent = JobEventFields &
  (
    | {
        readonly type: 'status';
        readonly status: JobStatus;
        readonly error: JobError | null;
        readonly attempts: number;
      }
    /** Place in the queue, 1 = next; seconds until the job is done, null while unknown. */
    | { readonly type: 'place'; readonly place: number; readonly secondsLeft: number | null }
    | { readonly type: 'progress'; readonly progress: JobProgress }
    /** A small picture of the state after `step` steps. */
    | ({ readonly type: 'preview' } & JobPreview)
    | { readonly type: 'deleted' }
  );

/** Which events: of one job, of all jobs of an owner, or all. */
export type EventTopic = { readonly jobId: string } | { readonly owner: string } | 'all';

/** Live events. A follower that has missed some gets the present state of its jobs instead. */
export interface JobEvents {
  /**
   * Follows a topic: first what came after `since` (or, where that is not known any more, a snapshot), then live, until
   * the signal aborts. A job's stream ends by itself after its last event. A follower that does not keep up gets a snapshot.
   */
  follow(topic: EventTopic, options?: FollowOptions): AsyncIterable<JobEvent>;
  /** Number of open streams. */
  readonly followers: number;
  /** Seconds until a job accepted now would start; null while a job before it is of an unknown length. */
  backlogSeconds(): Promise<number | null>;
}

export interface FollowOptions {
  /** The Last-Event-ID that the client names; a snapshot where absent. */
  readonly since?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}
