// Device processes as the rest of the program sees them.

export type WorkerStatus = 'starting' | 'idle' | 'busy' | 'waiting' | 'stopped';

export interface WorkerState {
  readonly device: string;
  /** Of the processor, once it is open. */
  readonly name: string | null;
  /** Memory that the device has, once it is open and says so. */
  readonly memoryBytes: number | null;
  /** Of it, what was free when it was opened, before any weight came. */
  readonly freeBytes: number | null;
  /** Whether it has products in eight bits; false until it is open. */
  readonly servesFp8: boolean;
  /** `waiting`: dead, started again after a pause. */
  readonly status: WorkerStatus;
  readonly pid: number | null;
  readonly jobId: string | null;
  /** Starts after the first. */
  readonly restarts: number;
  readonly lastCrash: string | null;
  readonly residentBytes: number;
}

/** Keeps one worker process for each device alive and gives it jobs. */
export interface Supervisor {
  /** Starts the workers. */
  start(): void;
  /**
   * Resolves when every worker has opened its device and checkpoint.
   * @throws WorkerRefusedError when one says that it cannot, and will not be able to
   */
  ready(): Promise<void>;
  readonly workers: readonly WorkerState[];
  /** Takes no further jobs, waits for the running ones, then stops the workers. What is not done in time goes back to the queue. */
  drain(timeoutMs: number): Promise<void>;
}
