// One device: its worker kept alive, one job at a time given to it.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkerRefusedError } from '../../jobs/errors.js';
import type { Lease, WorkerState, WorkerStatus } from '../../jobs/types.js';
import type { DeviceInfo } from '../job-runner.js';
import type { FromWorker } from '../messages.js';
import { JobRun } from './job-run.js';
import type { DeviceSetup, Supervision } from './supervision.js';
import { WorkerProcess } from './worker-process.js';

/** A worker that dies this often before it was ready for the first time never will be. */
const deathsBeforeReady = 5;

export class DeviceSlot {
  readonly #supervision: Supervision;
  readonly #setup: DeviceSetup;
  readonly #folder: string;
  readonly ready: Promise<void>;
  #settleReady: { resolve(): void; reject(error: Error): void } = { resolve() {}, reject() {} };
  #worker: WorkerProcess | null = null;
  #status: WorkerStatus = 'stopped';
  #run: JobRun | null = null;
  #startedAt = 0;
  #starts = 0;
  #deaths = 0;
  #wasReady = false;
  #isStopping = false;
  #isClaiming = false;
  #isAskedAgain = false;
  #opened: DeviceInfo | null = null;
  #lastCrash: string | null = null;
  #refusal: string | null = null;
  #pause: NodeJS.Timeout | undefined;
  #onGone: () => void = () => undefined;

  constructor(supervision: Supervision, setup: DeviceSetup) {
    this.#supervision = supervision;
    this.#setup = setup;
    this.#folder = join(supervision.stagingFolder, setup.device.replaceAll(/\W/g, '-'));
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject };
    });
    this.ready.catch(() => undefined);
  }

  get state(): WorkerState {
    return {
      device: this.#setup.device,
      name: this.#opened?.name ?? null,
      memoryBytes: this.#opened?.memoryBytes ?? null,
      freeBytes: this.#opened?.freeBytes ?? null,
      servesFp8: this.#opened?.servesFp8 ?? false,
      status: this.#status,
      pid: this.#worker?.pid ?? null,
      jobId: this.#run?.jobId ?? null,
      restarts: Math.max(0, this.#starts - 1),
      lastCrash: this.#lastCrash,
      residentBytes: this.#worker?.residentBytes ?? 0,
    };
  }

  /** The lease of the job that runs here, if it is still ours to keep. */
  get lease(): Lease | null {
    return this.#run?.isHeld ? this.#run.lease : null;
  }

  start(): void {
    const { workerEntry, limits } = this.#supervision;
    const { device, lockFile, nice, options } = this.#setup;
    this.#status = 'starting';
    this.#startedAt = performance.now();
    this.#starts += 1;
    this.#refusal = null;
    const setup = { device, lockFile, nice, options, lockTimeoutMs: limits.lockMs, beatMs: limits.beatMs };
    const worker: WorkerProcess = new WorkerProcess(
      workerEntry,
      { ...setup, parentPid: process.pid },
      {
        onMessage: (message) => this.#guard(this.#hear(worker, message)),
        onOutput: (line) => this.#supervision.log.info({ device, pid: worker.pid, line }, 'worker output'),
        onExit: (reason, clean) => this.#guard(this.#exited(reason, clean)),
      },
    );
    this.#worker = worker;
  }

  /** There may be a job to take. */
  wake(): void {
    this.#isAskedAgain = true;
    if (!this.#isClaiming) this.#guard(this.#claim());
  }

  /** A job has ended by other means; if it runs here, the run stops. */
  dropJob(jobId: string): void {
    if (this.#run?.jobId === jobId) this.#run.drop();
  }

  /** Kills a worker that gives no sign of life, does not get ready, or does not move. */
  check(): void {
    const worker = this.#worker;
    if (!worker) return;
    const { limits } = this.#supervision;
    const seconds = (ms: number) => Math.round(ms / 1000);
    const stalledMs = this.#run?.stalledMs ?? 0;
    if (worker.silentMs > limits.silenceMs) {
      worker.kill(`worker ${worker.pid} gave no sign of life for ${seconds(worker.silentMs)} s`);
    } else if (this.#status === 'starting' && performance.now() - this.#startedAt > limits.openMs) {
      worker.kill(`worker ${worker.pid} was not ready after ${seconds(limits.openMs)} s`);
    } else if (this.#run?.isStopping && stalledMs > limits.stopMs) {
      worker.kill(`worker ${worker.pid} did not stop its job within ${seconds(limits.stopMs)} s`);
    } else if (stalledMs > limits.progressMs) {
      worker.kill(
        `worker ${worker.pid} made no progress for ${seconds(stalledMs)} s (phase ${this.#run?.phase ?? 'none'})`,
      );
    }
  }

  /** Takes no further job. Resolves when the present one is over. */
  async finishJobs(): Promise<void> {
    this.#isStopping = true;
    await this.#run?.over;
  }

  /** Gives a running job back and ends the worker. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#pause);
    const run = this.#run;
    await run?.release();
    if (this.#worker) await this.#end(this.#worker);
    this.#status = 'stopped';
    await run?.over;
  }

  /** Asks the worker to go, and kills it when it does not. */
  async #end(worker: WorkerProcess): Promise<void> {
    const gone = new Promise<void>((resolve) => {
      this.#onGone = resolve;
    });
    const impatience = setTimeout(
      () => worker.kill('the server stops'),
      Math.min(5_000, this.#supervision.limits.stopMs),
    );
    if (this.#status === 'starting') worker.kill('the server stops');
    else worker.send({ type: 'stop' });
    await gone;
    clearTimeout(impatience);
  }

  async #hear(worker: WorkerProcess, message: FromWorker): Promise<void> {
    switch (message.type) {
      case 'ready': {
        // Results of the worker before may still be on their way into the store.
        await this.#run?.over;
        // The device's lock is ours: whoever wrote here before is dead, and nothing it left is needed.
        await rm(this.#folder, { recursive: true, force: true });
        if (this.#worker !== worker) return;
        this.#status = 'idle';
        this.#opened = message.device ?? null;
        this.#supervision.log.info({ device: this.#setup.device, ...message.device }, 'worker is ready');
        this.#wasReady = true;
        this.#settleReady.resolve();
        this.wake();
        break;
      }
      case 'refused':
        this.#refusal = message.reason;
        break;
      default: {
        const run = this.#run;
        await run?.hear(message);
      }
    }
  }

  async #claim(): Promise<void> {
    this.#isClaiming = true;
    try {
      while (this.#isAskedAgain && this.#status === 'idle' && !this.#isStopping) {
        this.#isAskedAgain = false;
        const { device } = this.#setup;
        const job = await this.#supervision.queue.claim(device);
        if (!job) continue;
        const worker = this.#worker;
        if (this.#status !== 'idle' || this.#isStopping || !worker) {
          await this.#supervision.queue.release(job.lease);
          return;
        }
        const run = new JobRun(this.#supervision, job, worker, this.#folder);
        this.#run = run;
        this.#status = 'busy';
        const { id, requestId, attempts } = job.record;
        this.#supervision.log.info({ device, job: id, request_id: requestId, attempts }, 'job started');
        void run.over.then(() => this.#runOver(run));
        await run.start();
      }
    } finally {
      this.#isClaiming = false;
    }
  }

  #runOver(run: JobRun): void {
    if (this.#run !== run) return;
    this.#run = null;
    if (this.#status !== 'busy') return;
    this.#status = 'idle';
    this.#deaths = 0;
    this.wake();
  }

  async #exited(reason: string, clean: boolean): Promise<void> {
    const run = this.#run;
    this.#worker = null;
    this.#status = this.#isStopping ? 'stopped' : 'waiting';
    try {
      await run?.workerDied(reason);
    } finally {
      this.#onGone();
      if (!this.#isStopping) this.#recover(clean ? `${reason} without being told to` : reason);
    }
  }

  /** Starts the worker again after a pause, unless it will never work. */
  #recover(reason: string): void {
    const { device } = this.#setup;
    const { log, limits } = this.#supervision;
    this.#lastCrash = this.#refusal ?? reason;
    this.#deaths += 1;
    const isHopeless = !this.#wasReady && (this.#refusal !== null || this.#deaths >= deathsBeforeReady);
    if (isHopeless) {
      this.#status = 'stopped';
      log.error({ device, reason: this.#lastCrash }, 'worker cannot work');
      this.#settleReady.reject(new WorkerRefusedError(device, this.#lastCrash));
      return;
    }
    const pauseMs = Math.min(limits.longestPauseMs, limits.firstPauseMs * 2 ** (this.#deaths - 1));
    log.warn({ device, reason: this.#lastCrash, pause_ms: pauseMs }, 'worker died');
    this.#pause = setTimeout(() => this.start(), pauseMs);
  }

  /** Errors of the store end up in the log: the lease of the job concerned runs out and it is tried again. */
  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => {
      const { device } = this.#setup;
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#supervision.log.error({ device, job: this.#run?.jobId, message }, 'supervision failed');
    });
  }
}
