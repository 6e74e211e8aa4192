// One job on one worker: handed over, followed, committed or given back.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plan } from '../../../pipeline/plan-types.js';
import { type RunClock, shapeOf } from '../../jobs/run-timeline.js';
import type { ClaimedJob, JobPreview, Lease } from '../../jobs/types.js';
import type { InputFile, RunError, RunProgress, RunResult } from '../job-runner.js';
import type { FromWorker } from '../messages.js';
import { commitResults } from './commit-results.js';
import type { Supervision } from './supervision.js';
import type { WorkerProcess } from './worker-process.js';

/** `sent` and `dropped` keep the worker busy; `settling` and `over` do not need it any more. */
type RunState = 'preparing' | 'sent' | 'dropped' | 'settling' | 'over';

const megabyte = 2 ** 20;

export class JobRun {
  readonly #supervision: Supervision;
  readonly #job: ClaimedJob;
  readonly #worker: WorkerProcess;
  readonly #folder: string;
  readonly #over: Promise<void>;
  #resolveOver: () => void = () => undefined;
  #state: RunState = 'preparing';
  #clock: RunClock;
  #movedAt = performance.now();
  #writtenAt = Number.NEGATIVE_INFINITY;
  #phase: string | null = null;

  /** @param folder where runs of this device write */
  constructor(supervision: Supervision, job: ClaimedJob, worker: WorkerProcess, folder: string) {
    this.#supervision = supervision;
    this.#job = job;
    this.#worker = worker;
    this.#folder = join(folder, `${job.record.id}.${job.lease.epoch}`);
    this.#clock = supervision.timelines.begin(job.shape);
    this.#over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
  }

  get jobId(): string {
    return this.#job.record.id;
  }

  get lease(): Lease {
    return this.#job.lease;
  }

  /** The lease is worth keeping: the job has not ended by other means. */
  get isHeld(): boolean {
    return this.#state === 'preparing' || this.#state === 'sent' || this.#state === 'settling';
  }

  /** Milliseconds since the run last moved, while it is the worker's turn. */
  get stalledMs(): number {
    return this.#state === 'sent' || this.#state === 'dropped' ? performance.now() - this.#movedAt : 0;
  }

  /** The run was told to stop and has not yet. */
  get isStopping(): boolean {
    return this.#state === 'dropped';
  }

  /** Where the run stands, for messages. */
  get phase(): string {
    return this.#phase ?? 'start';
  }

  /** Resolves when the job is settled and the worker free of it. */
  get over(): Promise<void> {
    return this.#over;
  }

  /** Hands the job to the worker. */
  async start(): Promise<void> {
    const { record, lease, plan } = this.#job;
    await mkdir(this.#folder, { recursive: true });
    const inputs = await this.#findInputs();
    if (this.#state !== 'preparing') return;
    if (inputs === null) {
      await this.#fail({ code: 'internal_error', param: null, message: 'An input of the job is not kept any more.' });
      return;
    }
    this.#worker.takePeak();
    this.#state = 'sent';
    this.#movedAt = performance.now();
    const { id, requestId, request, outputs } = record;
    const job = { id, epoch: lease.epoch, requestId, request, outputs, plan, inputs, folder: this.#folder };
    this.#worker.send({ type: 'run', job });
  }

  /** Takes a message of the worker about a job; those of other epochs are stale. */
  async hear(message: Extract<FromWorker, { readonly epoch: number }>): Promise<void> {
    if (message.epoch !== this.lease.epoch) return;
    if (this.#state === 'dropped') {
      if (message.type === 'done' || message.type === 'failed' || message.type === 'stopped') await this.#end();
      return;
    }
    if (this.#state !== 'sent') return;
    this.#movedAt = performance.now();
    switch (message.type) {
      case 'plan':
        return this.#takePlan(message.plan);
      case 'progress':
        return this.#takeProgress(message.progress);
      case 'preview':
        return this.#takePreview(message.preview);
      case 'done':
        return this.#commit(message.result);
      case 'failed':
        return this.#fail(message.error);
      case 'stopped':
        // Nobody asked for it; the worker goes down by itself and the job deserves another one.
        return this.#giveBack();
      default:
        message satisfies never;
    }
  }

  /** The job has ended by other means: cancelled, deleted, out of time. The worker stops between steps. */
  drop(): void {
    if (this.#state === 'sent') {
      this.#state = 'dropped';
      this.#movedAt = performance.now();
      this.#worker.send({ type: 'cancel', epoch: this.lease.epoch });
    } else if (this.#state === 'preparing') void this.#end();
  }

  /** The worker has died. A job that it had not been given yet is none the worse for it. */
  async workerDied(reason: string): Promise<void> {
    const { queue, log } = this.#supervision;
    if (this.#state === 'sent') {
      this.#state = 'settling';
      try {
        const state = await queue.crashed(this.lease, reason);
        log.warn({ job: this.jobId, request_id: this.#job.record.requestId, reason, state }, 'worker died under a job');
      } finally {
        await this.#end();
      }
    } else if (this.#state === 'preparing') await this.#giveBack();
    else if (this.#state === 'dropped') await this.#end();
  }

  /** Gives the job back to the queue unharmed: the server stops. */
  async release(): Promise<void> {
    if (this.#state === 'sent' || this.#state === 'preparing') await this.#giveBack();
  }

  async #findInputs(): Promise<readonly InputFile[] | null> {
    const { uploads } = this.#supervision;
    const files: InputFile[] = [];
    for (const { role, sha256 } of this.#job.record.request.inputs) {
      const upload = await uploads.get(sha256);
      if (!upload) return null;
      files.push({ role, path: uploads.path(upload), mediaType: upload.mediaType });
    }
    return files;
  }

  async #takePlan(plan: Plan): Promise<void> {
    if (this.#job.shape === null) this.#clock = this.#supervision.timelines.begin(shapeOf(plan));
    await this.#supervision.queue.recordPlan(this.lease, plan);
  }

  async #takeProgress(point: RunProgress): Promise<void> {
    const { hub, queue, limits } = this.#supervision;
    const progress = this.#clock.reach(point);
    hub.reportProgress(this.#job.record, progress);
    const now = performance.now();
    const isDue = this.#phase !== point.phase || now - this.#writtenAt >= limits.progressEveryMs;
    this.#phase = point.phase;
    if (!isDue) return;
    this.#writtenAt = now;
    await queue.progress(this.lease, progress);
  }

  #takePreview(preview: JobPreview): void {
    const { id, owner } = this.#job.record;
    this.#supervision.hub.publish({ type: 'preview', jobId: id, owner, ...preview });
  }

  async #commit(result: RunResult): Promise<void> {
    const { queue, artifacts, log } = this.#supervision;
    this.#state = 'settling';
    const peakMemoryMb = Math.round(this.#worker.takePeak() / megabyte);
    this.#clock.finish();
    const { lease } = this;
    const run = { lease, folder: this.#folder, result, phases: this.#clock.phases, peakMemoryMb };
    try {
      await commitResults(queue, artifacts, run);
      await this.#end();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      log.error({ job: this.jobId, request_id: this.#job.record.requestId, message }, 'results could not be kept');
      await this.#fail({ code: 'internal_error', param: null, message: `The results could not be kept: ${message}` });
    }
  }

  async #fail(error: RunError): Promise<void> {
    this.#state = 'settling';
    try {
      await this.#supervision.queue.fail(this.lease, error);
    } finally {
      await this.#end();
    }
  }

  async #giveBack(): Promise<void> {
    this.#state = 'settling';
    try {
      await this.#supervision.queue.release(this.lease);
    } finally {
      await this.#end();
    }
  }

  async #end(): Promise<void> {
    this.#state = 'over';
    try {
      await rm(this.#folder, { recursive: true, force: true });
    } finally {
      this.#resolveOver();
    }
  }
}
