// A storm of kills: jobs are submitted while workers and the whole engine process die at random points of a seeded course.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { QueueCounts } from '../../src/engine/jobs/types.js';
import { fakeJob, fastLimits, waitFor } from './fake-jobs.js';

const entry = fileURLToPath(new URL('./engine-process.mjs', import.meta.url));

export interface CrashPlan {
  readonly folder: string;
  readonly jobs: number;
  readonly kills: number;
  readonly seed: number;
  readonly workers: number;
}

export interface CrashReport {
  /** Id that was acknowledged, by idempotency key. */
  readonly accepted: ReadonlyMap<string, string>;
  /** Keys acknowledged with more than one id. */
  readonly doubled: readonly string[];
  /** Workers killed by the test itself, not through the death of their engine. */
  readonly killedWorkers: ReadonlySet<number>;
  readonly engineKills: number;
  /** Every process that was ever seen. */
  readonly pids: ReadonlySet<number>;
}

type Message =
  | { readonly type: 'up' }
  | { readonly type: 'pids'; readonly pids: readonly number[] }
  | { readonly type: 'accepted'; readonly key: string; readonly id: string }
  | { readonly type: 'counts'; readonly counts: QueueCounts };

/** The prompt, key and size of the job with a number. */
export function stormJob(i: number): { readonly prompt: string; readonly key: string; readonly bytes: number } {
  return { prompt: `storm ${i}`, key: `key-${i}`, bytes: 500 + i };
}

/** Drives the storm to its end: all jobs submitted and done, all kills made, the engine closed. */
export async function runCrashes(plan: CrashPlan): Promise<CrashReport> {
  const storm = new Storm(plan);
  await storm.run();
  return storm;
}

class Storm implements CrashReport {
  readonly accepted = new Map<string, string>();
  readonly doubled: string[] = [];
  readonly killedWorkers = new Set<number>();
  readonly pids = new Set<number>();
  engineKills = 0;
  readonly #plan: CrashPlan;
  readonly #random: () => number;
  #engine: ChildProcess | null = null;
  #workers: readonly number[] = [];
  #counts: QueueCounts | null = null;

  constructor(plan: CrashPlan) {
    this.#plan = plan;
    this.#random = seededRandom(plan.seed);
  }

  async run(): Promise<void> {
    const { kills, jobs } = this.#plan;
    this.#startEngine();
    for (let kill = 0; kill < kills; kill++) {
      await this.#pause(this.#random() * 600);
      // A few at a time, just before each kill: some are on their way when the engine dies, some run.
      this.#submit(Math.ceil(((kill + 1) * jobs) / kills));
      await this.#pause(this.#random() * 300);
      if (this.#random() < 0.3) await this.#killEngine();
      else await this.#killWorker();
    }
    await waitFor(() => {
      this.#submit(jobs);
      return this.accepted.size === jobs ? true : null;
    }, 60_000);
    await waitFor(async () => {
      this.#send({ type: 'counts' });
      await this.#pause(20);
      const counts = this.#counts;
      return counts && counts.queued + counts.inProgress === 0 ? true : null;
    }, 120_000);
    await this.#closeEngine();
  }

  #startEngine(): void {
    const { folder, workers } = this.#plan;
    const engine = fork(entry, [folder, JSON.stringify(fastLimits), String(workers)], { stdio: 'inherit' });
    if (engine.pid !== undefined) this.pids.add(engine.pid);
    engine.on('message', (message) => this.#hear(message as Message));
    engine.on('error', () => undefined);
    this.#engine = engine;
    this.#workers = [];
  }

  #hear(message: Message): void {
    switch (message.type) {
      case 'up':
        break;
      case 'pids':
        this.#workers = message.pids;
        for (const pid of message.pids) this.pids.add(pid);
        break;
      case 'accepted': {
        const known = this.accepted.get(message.key);
        if (known !== undefined && known !== message.id) this.doubled.push(message.key);
        this.accepted.set(message.key, message.id);
        break;
      }
      case 'counts':
        this.#counts = message.counts;
        break;
      default:
        message satisfies never;
    }
  }

  /** Sends every job below `count` that has not been acknowledged, as a client would after a broken connection. */
  #submit(count: number): void {
    for (let i = 0; i < count; i++) {
      const { prompt, key, bytes } = stormJob(i);
      if (this.accepted.has(key)) continue;
      this.#send({
        type: 'enqueue',
        job: fakeJob(prompt, { steps: 4, stepMs: 40, bytes }, { idempotencyKey: key, owner: `owner ${i % 3}` }),
      });
    }
  }

  #send(message: object): void {
    if (this.#engine?.connected) this.#engine.send(message, () => undefined);
  }

  /** Kills one of the workers there are, waiting for one if need be. */
  async #killWorker(): Promise<void> {
    const choice = this.#random();
    await waitFor(() => {
      const pid = this.#workers[Math.floor(choice * this.#workers.length)];
      return pid !== undefined && !this.killedWorkers.has(pid) && this.#kill(pid) ? true : null;
    });
  }

  #kill(pid: number): boolean {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      return false;
    }
    this.killedWorkers.add(pid);
    return true;
  }

  async #killEngine(): Promise<void> {
    const engine = this.#engine;
    this.engineKills += 1;
    const gone = new Promise((resolve) => engine?.once('exit', resolve));
    engine?.kill('SIGKILL');
    await gone;
    this.#startEngine();
  }

  async #closeEngine(): Promise<void> {
    const gone = new Promise((resolve) => this.#engine?.once('exit', resolve));
    this.#send({ type: 'close' });
    await gone;
  }

  async #pause(ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

/** Numbers in [0, 1) that repeat with the seed (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
