// Everything that serves jobs, opened on one folder: queue, artifacts, uploads, events, workers.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ContentTokens } from '../artifacts/content-tokens.js';
import { DiskArtifactStore } from '../artifacts/disk-artifact-store.js';
import { DiskUploadStore, type UploadOptions } from '../artifacts/disk-upload-store.js';
import { ProcessLock } from '../worker/process-lock.js';
import { builtWorkerEntry } from '../worker/supervisor/built-entry.js';
import { defaultLimits, type JobLog, type SupervisionLimits } from '../worker/supervisor/supervision.js';
import { WorkerSupervisor } from '../worker/supervisor/worker-supervisor.js';
import { checkStore } from './check-store.js';
import { JobDatabase } from './database.js';
import { EventHub, type HubOptions } from './events/event-hub.js';
import { type QueueOptions, SqliteQueue } from './queue/sqlite-queue.js';
import { RunTimelines } from './run-timeline.js';
import { openStoreFolder } from './store-folder.js';
import type { ArtifactStore, JobEvents, JobQueue, JsonObject, Supervisor, UploadStore } from './types.js';

export interface JobEngineOptions {
  /** Where everything is kept; one server at a time. */
  readonly folder: string;
  readonly devices: readonly DeviceOptions[];
  readonly queue?: Omit<QueueOptions, 'now'> | undefined;
  readonly uploads?: Omit<UploadOptions, 'now'> | undefined;
  readonly events?: Omit<HubOptions, 'now' | 'workers'> | undefined;
  readonly limits?: Partial<SupervisionLimits> | undefined;
  readonly log?: JobLog | undefined;
  /** JavaScript file that a worker process runs; the package's own where absent. */
  readonly workerEntry?: string | undefined;
  /** How long to wait for another server to leave the folder. */
  readonly lockTimeoutMs?: number | undefined;
}

/** One device and what its runner is told. */
export interface DeviceOptions {
  /** `cpu`, `cuda:0`. */
  readonly device: string;
  /** For the runner: the checkpoint and the like. */
  readonly options: JsonObject;
  /** Scheduling priority of the worker, 0 (normal) … 19 (last); 10 where absent. */
  readonly nice?: number | undefined;
  /** Keeps a second worker off the device, whichever server started it. In the folder where absent. */
  readonly lockFile?: string | undefined;
}

/** An opened engine. Its workers start with `supervisor.start()`; `close` drains them. */
export interface JobEngine {
  readonly queue: JobQueue;
  readonly artifacts: ArtifactStore;
  readonly uploads: UploadStore;
  readonly events: JobEvents;
  readonly supervisor: Supervisor;
  /** How long jobs take. */
  readonly timelines: RunTimelines;
  /** Signs addresses of content; tokens outlive a restart. */
  readonly tokens: ContentTokens;
  /** Everything wrong with the store, one line each. For a quiet moment: a commit on its way looks like a stray file. */
  check(): readonly string[];
  /** Lets running jobs finish for `drainMs`, stops the workers, closes the store. */
  close(drainMs?: number): Promise<void>;
}

const silent: JobLog = { info() {}, warn() {}, error() {} };

/**
 * Opens the folder, takes back what a crash left: running jobs wait again, unfinished files are removed.
 * @throws StoreFolderError where it cannot be one, LockHeldError when another server uses it, StoreVersionError when a newer one did
 */
export async function openJobEngine(options: JobEngineOptions): Promise<JobEngine> {
  const folder = resolve(options.folder);
  const { log = silent, lockTimeoutMs = 5_000 } = options;
  openStoreFolder(folder);
  const lock = await ProcessLock.take(join(folder, 'server.lock'), lockTimeoutMs);
  try {
    const database = new JobDatabase(join(folder, 'jobs.db'));
    try {
      return await assemble(folder, database, lock, { ...options, log });
    } catch (error) {
      database[Symbol.dispose]();
      throw error;
    }
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

async function assemble(
  folder: string,
  database: JobDatabase,
  lock: ProcessLock,
  options: JobEngineOptions & { readonly log: JobLog },
): Promise<JobEngine> {
  const { log, devices } = options;
  const folders = { artifacts: join(folder, 'artifacts'), uploads: join(folder, 'uploads') };
  const stagingFolder = join(folder, 'staging');
  const queue = new SqliteQueue(database, options.queue);
  const artifacts = new DiskArtifactStore(folders.artifacts);
  const uploads = new DiskUploadStore(folders.uploads, database, options.uploads);
  const secret = database.setting('content-secret', () => randomBytes(32).toString('hex'));

  const { jobs } = await queue.expire({ abandonAll: true });
  const ofRecord = new Set(database.all<{ file: string }>('SELECT file FROM artifacts').map(({ file }) => file));
  const strays = [...(await artifacts.sweep((file) => ofRecord.has(file))), ...(await uploads.sweep())];
  await rm(stagingFolder, { recursive: true, force: true });
  log.info({ expired_jobs: jobs.length, stray_files: strays.length }, 'job store opened');

  const timelines = new RunTimelines(database);
  const hub = new EventHub(queue, timelines, { ...options.events, workers: Math.max(1, devices.length) });
  const supervisor = new WorkerSupervisor(
    {
      queue,
      artifacts,
      uploads,
      hub,
      timelines,
      log,
      stagingFolder,
      workerEntry: options.workerEntry ?? builtWorkerEntry(),
      limits: { ...defaultLimits, ...options.limits },
    },
    devices.map(({ device, options, nice = 10, lockFile }) => ({
      device,
      options,
      nice,
      lockFile: lockFile ?? join(folder, 'locks', `${device.replaceAll(/\W/g, '-')}.lock`),
    })),
  );
  return {
    queue,
    artifacts,
    uploads,
    events: hub,
    supervisor,
    timelines,
    tokens: new ContentTokens(Buffer.from(secret, 'hex')),
    check: () => checkStore(database, folders),
    async close(drainMs = 0) {
      await supervisor.drain(drainMs);
      await hub.settle();
      hub[Symbol.dispose]();
      database[Symbol.dispose]();
      lock[Symbol.dispose]();
    },
  };
}
