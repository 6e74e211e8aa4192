// Keeps the workers of all devices alive, the leases of their jobs fresh, and applies deadlines and lifetimes.
import type { JobChange, Supervisor, WorkerState } from '../../jobs/types.js';
import { DeviceSlot } from './device-slot.js';
import type { DeviceSetup, Supervision } from './supervision.js';

/** A look that comes this much later than it should says that this process was held up, not its workers. */
const lateFactor = 3;

export class WorkerSupervisor implements Supervisor {
  readonly #supervision: Supervision;
  readonly #slots: readonly DeviceSlot[];
  readonly #unsubscribe: () => void;
  #timer: NodeJS.Timeout | undefined;
  #tickedAt = 0;
  #tick: Promise<void> | null = null;

  constructor(supervision: Supervision, devices: readonly DeviceSetup[]) {
    this.#supervision = supervision;
    this.#slots = devices.map((setup) => new DeviceSlot(supervision, setup));
    this.#unsubscribe = supervision.queue.subscribe((change) => this.#hear(change));
  }

  start(): void {
    for (const slot of this.#slots) slot.start();
    this.#tickedAt = performance.now();
    this.#timer = setInterval(() => {
      this.#tick ??= this.#look().finally(() => {
        this.#tick = null;
      });
    }, this.#supervision.limits.tickMs);
  }

  async ready(): Promise<void> {
    await Promise.all(this.#slots.map(({ ready }) => ready));
  }

  get workers(): readonly WorkerState[] {
    return this.#slots.map(({ state }) => state);
  }

  async drain(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([Promise.all(this.#slots.map((slot) => slot.finishJobs())), timeout]);
    clearTimeout(timer);
    await Promise.all(this.#slots.map((slot) => slot.stop()));
    clearInterval(this.#timer);
    await this.#tick;
    this.#unsubscribe();
  }

  #hear({ id, change }: JobChange): void {
    if (change === 'queued') for (const slot of this.#slots) slot.wake();
    // Commits and failures of the slot's own arrive here too; it has let go of the job by then.
    else if (change !== 'started' && change !== 'completed') for (const slot of this.#slots) slot.dropJob(id);
  }

  async #look(): Promise<void> {
    const { queue, artifacts, uploads, limits, log } = this.#supervision;
    try {
      const now = performance.now();
      const isLate = now - this.#tickedAt > limits.tickMs * lateFactor + 1000;
      this.#tickedAt = now;
      // Leases first: what this process was held up for must not cost its jobs.
      await this.#prolong();
      if (!isLate) for (const slot of this.#slots) slot.check();
      const { files } = await queue.expire();
      await artifacts.delete(files);
      await uploads.expire();
      for (const slot of this.#slots) slot.wake();
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      log.error({ message }, 'supervision failed');
    }
  }

  async #prolong(): Promise<void> {
    const leases = this.#slots.flatMap(({ lease }) => lease ?? []);
    if (leases.length === 0) return;
    const held = new Set((await this.#supervision.queue.heartbeat(leases)).map(({ jobId }) => jobId));
    for (const { jobId } of leases) if (!held.has(jobId)) for (const slot of this.#slots) slot.dropJob(jobId);
  }
}
