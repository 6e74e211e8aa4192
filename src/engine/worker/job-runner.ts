// What runs inside a worker process: something that turns one job after the other into files.
import type { Plan } from '../../pipeline/plan-types.js';
import type {
  ArtifactVariant,
  JobError,
  JobOutput,
  JobPhase,
  JobPreview,
  JobRequest,
  JsonObject,
} from '../jobs/types.js';

/** A job as a worker gets it. */
export interface WorkerJob {
  readonly id: string;
  readonly epoch: number;
  readonly requestId: string;
  readonly request: JobRequest;
  readonly outputs: readonly JobOutput[];
  /** From an earlier attempt or the door; null where this run is to make it. */
  readonly plan: Plan | null;
  /** The request's inputs as files. */
  readonly inputs: readonly InputFile[];
  /** An empty folder of its own, for the results and nothing else. */
  readonly folder: string;
}

export interface InputFile {
  readonly role: string;
  readonly path: string;
  readonly mediaType: string;
}

/** How far a run is. */
export interface RunProgress {
  readonly phase: JobPhase;
  /** Finished steps of the chunk. */
  readonly step: number;
  readonly steps: number;
  readonly chunk: number;
  readonly chunks: number;
}

/** A finished, checked file in the job's folder. */
export interface ProducedFile {
  /** Name in the folder. */
  readonly name: string;
  readonly variant: ArtifactVariant;
  readonly index: number;
  readonly mediaType: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface RunResult {
  readonly files: readonly ProducedFile[];
  /** Small outcomes: actions, facts of the clip, warnings. */
  readonly result: JsonObject | null;
}

export interface RunContext {
  /** Aborts when the job is cancelled or out of time; the run then ends between steps by throwing. */
  readonly signal: AbortSignal;
  onProgress(progress: RunProgress): void;
  onPreview(preview: JobPreview): void;
  /** Called once a run has made its plan. */
  onPlan(plan: Plan): void;
}

/** An open device. */
export interface DeviceInfo {
  /** Of the processor. */
  readonly name: string;
  /** That it has; null where it does not say. */
  readonly memoryBytes: number | null;
  /** Of it, what was free when it was opened, before any weight came; null where it does not say. */
  readonly freeBytes?: number | null;
  /** Whether it has products in eight bits. */
  readonly servesFp8?: boolean;
  /** What it is and how weights are kept and frames decoded, for people. */
  readonly setup?: readonly string[];
}

/** Runs jobs, one at a time. */
export interface JobRunner extends AsyncDisposable {
  /** What it runs on, for people. */
  readonly device?: DeviceInfo;
  /** @throws whatever went wrong; a RequestError where the request was at fault */
  run(job: WorkerJob, context: RunContext): Promise<RunResult>;
}

/** Opens the device and what it needs. What it throws ends the worker, with the message as the reason. */
export type OpenRunner = (device: string, options: JsonObject) => Promise<JobRunner>;

/** The error of a run as it is recorded. */
export type RunError = Omit<JobError, 'crashes'>;
