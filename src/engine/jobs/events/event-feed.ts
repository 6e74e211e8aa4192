// What waits for one follower of events: bounded, so that a slow one costs no memory.
import type { EventTopic, JobEvent } from '../types.js';

export class EventFeed {
  readonly topic: EventTopic;
  readonly #limit: number;
  #waiting: JobEvent[] = [];
  #isOverrun = false;
  #hasEnded = false;
  #wake: (() => void) | undefined;

  /** @param limit events that may wait; beyond it they are dropped and the follower told */
  constructor(topic: EventTopic, limit: number, signal?: AbortSignal) {
    this.topic = topic;
    this.#limit = limit;
    if (signal?.aborted) this.end();
    else signal?.addEventListener('abort', () => this.end(), { once: true });
  }

  push(event: JobEvent): void {
    if (this.#hasEnded || !isAbout(event, this.topic)) return;
    if (this.#waiting.length >= this.#limit) {
      this.#isOverrun = true;
      this.#waiting = [];
    }
    if (!this.#isOverrun) this.#waiting.push(event);
    this.#wake?.();
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake?.();
  }

  /** The events that wait, once there are some; `overrun` when some were dropped; `ended` when no more will come. */
  async take(): Promise<readonly JobEvent[] | 'overrun' | 'ended'> {
    if (!this.#hasEnded && !this.#isOverrun && this.#waiting.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    if (this.#hasEnded) return 'ended';
    if (this.#isOverrun) {
      this.#isOverrun = false;
      return 'overrun';
    }
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }
}

/** Whether an event belongs to a topic. */
export function isAbout({ jobId, owner }: Pick<JobEvent, 'jobId' | 'owner'>, topic: EventTopic): boolean {
  if (topic === 'all') return true;
  return 'jobId' in topic ? jobId === topic.jobId : owner === topic.owner;
}
