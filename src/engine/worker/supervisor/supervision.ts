// What the supervisor's parts share: the stores they work on, where things lie, how long things may take.
import type { EventHub } from '../../jobs/events/event-hub.js';
import type { RunTimelines } from '../../jobs/run-timeline.js';
import type { ArtifactStore, JobQueue, JsonObject, UploadStore } from '../../jobs/types.js';

/** Where log lines go; pino fits. */
export interface JobLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** One device and how its worker is started. */
export interface DeviceSetup {
  /** What the runner opens: `cpu`, `cuda:0`. */
  readonly device: string;
  /** Lock file that keeps a second worker off the device. */
  readonly lockFile: string;
  /** Scheduling priority of the worker, 0 (normal) … 19 (last). */
  readonly nice: number;
  /** For the runner. */
  readonly options: JsonObject;
}

/** How long things may take, in milliseconds. */
export interface SupervisionLimits {
  /** Until a worker has opened its device and checkpoint. */
  readonly openMs: number;
  /** A new worker waits this long for the one before it to leave the device. */
  readonly lockMs: number;
  /** Between two signs of life. */
  readonly beatMs: number;
  /** A worker silent for this long is killed. */
  readonly silenceMs: number;
  /** A job without progress for this long is taken for hung and its worker killed. */
  readonly progressMs: number;
  /** A worker that does not stop a job, or itself, within this time is killed. */
  readonly stopMs: number;
  /** Pause before a dead worker is started again; doubled with each death that follows without a job done. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** Between two looks at workers, leases, deadlines and lifetimes. */
  readonly tickMs: number;
  /** Between two writes of a job's progress. */
  readonly progressEveryMs: number;
}

export const defaultLimits: SupervisionLimits = {
  openMs: 1_200_000,
  lockMs: 30_000,
  beatMs: 500,
  silenceMs: 15_000,
  progressMs: 900_000,
  stopMs: 60_000,
  firstPauseMs: 250,
  longestPauseMs: 30_000,
  tickMs: 1_000,
  progressEveryMs: 500,
};

export interface Supervision {
  readonly queue: JobQueue;
  readonly artifacts: ArtifactStore;
  readonly uploads: UploadStore;
  readonly hub: EventHub;
  readonly timelines: RunTimelines;
  readonly log: JobLog;
  /** Where runs write their files, on the file system of the artifacts. */
  readonly stagingFolder: string;
  /** JavaScript file that a worker process runs. */
  readonly workerEntry: string;
  readonly limits: SupervisionLimits;
}
