// A worker process from its first message to its end: takes its device, runs jobs one at a time, dies with its parent.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { isFfiAvailable, setParentDeathSignal } from '../../native/index.js';
import { RequestError } from '../../protocol/request-error.js';
import type { JobRunner, OpenRunner, RunError, WorkerJob } from './job-runner.js';
import type { BeatData, FromWorker, ToWorker, WorkerSetup } from './messages.js';
import { ProcessLock } from './process-lock.js';

/** Exit code of a worker that says it cannot work (EX_CONFIG). */
export const refusedExitCode = 78;

/** Serves the supervisor that forked this process. Call it once, from the entry of a worker. */
export function serveSupervisor(open: OpenRunner): void {
  let running: { readonly epoch: number; readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  let runner: JobRunner | undefined;

  const begin = (job: WorkerJob, on: JobRunner) => {
    const stop = new AbortController();
    running = { epoch: job.epoch, stop, ended: runJob(on, job, stop.signal) };
  };
  const finish = async () => {
    running?.stop.abort(new Error('the worker stops'));
    await running?.ended;
    await runner?.[Symbol.asyncDispose]();
    process.exit(0);
  };

  process.on('disconnect', () => process.exit(0));
  // Signals meant for the group are the supervisor's to answer: it stops its workers in order.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('message', (message: ToWorker) => {
    switch (message.type) {
      case 'open':
        void openRunner(message.setup, open).then((opened) => {
          runner = opened;
          tell({ type: 'ready', device: opened.device });
        }, refuse);
        break;
      case 'run':
        if (runner) begin(message.job, runner);
        break;
      case 'cancel':
        if (running?.epoch === message.epoch) running.stop.abort(new Error('the job was cancelled'));
        break;
      case 'stop':
        void finish();
        break;
      default:
        message satisfies never;
    }
  });
}

async function openRunner(setup: WorkerSetup, open: OpenRunner): Promise<JobRunner> {
  if (isFfiAvailable()) setParentDeathSignal('SIGKILL', setup.parentPid);
  const beating = startBeats(setup);
  yieldToOthers(setup.nice);
  const lock = await ProcessLock.take(setup.lockFile, setup.lockTimeoutMs);
  try {
    await beating;
    return await open(setup.device, setup.options);
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

/** Resolves with the first beat. */
async function startBeats({ beatMs, parentPid }: WorkerSetup): Promise<void> {
  const workerData: BeatData = { everyMs: beatMs, parentPid };
  const thread = new Worker(new URL('./beat-thread.js', import.meta.url), { workerData });
  await once(thread, 'message');
  thread.unref();
}

/** The process that answers requests comes first, for the processor as for the memory. */
function yieldToOthers(nice: number): void {
  setPriority(nice);
  try {
    writeFileSync('/proc/self/oom_score_adj', '500');
  } catch {
    // Not Linux, or not allowed: a preference, no more.
  }
}

async function runJob(runner: JobRunner, job: WorkerJob, signal: AbortSignal): Promise<void> {
  const { epoch } = job;
  try {
    const result = await runner.run(job, {
      signal,
      onProgress: (progress) => tell({ type: 'progress', epoch, progress }),
      onPreview: (preview) => tell({ type: 'preview', epoch, preview }),
      onPlan: (plan) => tell({ type: 'plan', epoch, plan }),
    });
    tell({ type: 'done', epoch, result });
  } catch (error) {
    if (signal.aborted) tell({ type: 'stopped', epoch });
    else tell({ type: 'failed', epoch, error: describeError(error) });
  }
}

function describeError(error: unknown): RunError {
  if (error instanceof RequestError) return { code: error.code, param: error.param, message: error.message };
  if (error instanceof Error) console.error(error.stack);
  return { code: 'internal_error', param: null, message: error instanceof Error ? error.message : String(error) };
}

function refuse(error: unknown): void {
  if (error instanceof Error) console.error(error.stack);
  const reason = error instanceof Error ? error.message : String(error);
  process.send?.({ type: 'refused', reason } satisfies FromWorker, () => process.exit(refusedExitCode));
}

function tell(message: FromWorker): void {
  process.send?.(message);
}
