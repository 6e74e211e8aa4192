// What the supervisor and a worker say to each other.
import type { Plan } from '../../pipeline/plan-types.js';
import type { JobPreview, JsonObject } from '../jobs/types.js';
import type { DeviceInfo, RunError, RunProgress, RunResult, WorkerJob } from './job-runner.js';

/** How a worker process begins. */
export interface WorkerSetup {
  readonly device: string;
  /** Held as long as the worker lives; keeps a second one off the device. */
  readonly lockFile: string;
  /** How long to wait for the lock: a worker that was killed may take a while to go. */
  readonly lockTimeoutMs: number;
  /** Scheduling priority, 0 (normal) … 19 (last). */
  readonly nice: number;
  readonly beatMs: number;
  readonly parentPid: number;
  /** For the runner. */
  readonly options: JsonObject;
}

export type ToWorker =
  | { readonly type: 'open'; readonly setup: WorkerSetup }
  | { readonly type: 'run'; readonly job: WorkerJob }
  | { readonly type: 'cancel'; readonly epoch: number }
  /** Ends the worker; a running job is stopped. */
  | { readonly type: 'stop' };

/** Messages about a job carry its epoch. */
export type FromWorker =
  | { readonly type: 'ready'; readonly device?: DeviceInfo | undefined }
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'plan'; readonly epoch: number; readonly plan: Plan }
  | { readonly type: 'progress'; readonly epoch: number; readonly progress: RunProgress }
  | { readonly type: 'preview'; readonly epoch: number; readonly preview: JobPreview }
  | { readonly type: 'done'; readonly epoch: number; readonly result: RunResult }
  | { readonly type: 'failed'; readonly epoch: number; readonly error: RunError }
  /** The run has ended because it was told to. */
  | { readonly type: 'stopped'; readonly epoch: number };

/** What a worker's beating thread is started with. */
export interface BeatData {
  readonly everyMs: number;
  readonly parentPid: number;
}

/** The file descriptor on which a worker's own thread beats: one line with the resident bytes each time. */
export const beatDescriptor = 4;
