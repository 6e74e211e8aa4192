// Live events of jobs: numbered, the latest kept for those who come back, a snapshot for those who missed too much.

import type { RunTimelines } from '../run-timeline.js';
import type {
  EventTopic,
  FollowOptions,
  JobChange,
  JobEvent,
  JobEvents,
  JobProgress,
  JobQueue,
  JobRecord,
  QueuePlace,
} from '../types.js';
import { EventFeed, isAbout } from './event-feed.js';

export interface HubOptions {
  /** Events kept for replay. */
  readonly kept?: number | undefined;
  /** Events that may wait for one follower. */
  readonly buffered?: number | undefined;
  /** Pause between two looks at the places in the queue. */
  readonly placeEveryMs?: number | undefined;
  /** Devices that work at the same time. */
  readonly workers?: number | undefined;
  readonly now?: (() => number) | undefined;
}

/** An event before it has a number. */
export type NewEvent = JobEvent extends infer E ? (E extends JobEvent ? Omit<E, 'id' | 'at'> : never) : never;

/** States of one job that a newcomer needs. */
interface LiveState {
  progress: JobProgress | null;
  preview: JobEvent | null;
}

const finalStatus: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

export class EventHub implements JobEvents, Disposable {
  readonly #queue: JobQueue;
  readonly #timelines: RunTimelines;
  readonly #options: Required<{ [K in keyof HubOptions]-?: NonNullable<HubOptions[K]> }>;
  readonly #log: JobEvent[] = [];
  readonly #feeds = new Set<EventFeed>();
  readonly #live = new Map<string, LiveState>();
  readonly #lastStatus = new Map<string, string>();
  readonly #lastPlace = new Map<string, string>();
  readonly #unsubscribe: () => void;
  #lastId: number;
  /** Events after this number are all in the log. */
  #completeAfter: number;
  #changes: Promise<void> = Promise.resolve();
  #placeTimer: NodeJS.Timeout | undefined;

  constructor(queue: JobQueue, timelines: RunTimelines, options: HubOptions = {}) {
    const { kept = 4096, buffered = 1024, placeEveryMs = 200, workers = 1, now = Date.now } = options;
    this.#queue = queue;
    this.#timelines = timelines;
    this.#options = { kept, buffered, placeEveryMs, workers, now };
    // Numbers go on rising over a restart as long as the clock does.
    this.#lastId = now() * 1000;
    this.#completeAfter = this.#lastId;
    this.#unsubscribe = queue.subscribe((change) => this.#hear(change));
  }

  get followers(): number {
    return this.#feeds.size;
  }

  /** Progress of a running job. */
  reportProgress(job: Pick<JobRecord, 'id' | 'owner'>, progress: JobProgress): void {
    this.#stateOf(job.id).progress = progress;
    this.publish({ type: 'progress', jobId: job.id, owner: job.owner, progress });
  }

  /** Gives an event its number, keeps it, tells it. */
  publish(event: NewEvent): void {
    this.#lastId += 1;
    const numbered = { ...event, id: this.#lastId, at: this.#options.now() } as JobEvent;
    if (numbered.type === 'preview') this.#stateOf(numbered.jobId).preview = numbered;
    // Pictures are large: only the latest of each job is kept, beside the log.
    else this.#log.push(numbered);
    while (this.#log.length > this.#options.kept) this.#completeAfter = this.#log.shift()?.id ?? this.#completeAfter;
    for (const feed of this.#feeds) feed.push(numbered);
  }

  async *follow(topic: EventTopic, { since, signal }: FollowOptions = {}): AsyncGenerator<JobEvent, void> {
    const feed = new EventFeed(topic, this.#options.buffered, signal);
    this.#feeds.add(feed);
    try {
      const isReplayable = since !== undefined && since >= this.#completeAfter && since <= this.#lastId;
      let told = this.#lastId;
      let given = this.#lastId;
      const snapshot = async (after: number | undefined) => {
        // What is on its way is part of the snapshot, not news.
        await this.#changes;
        await this.#tellPlaces();
        told = this.#lastId;
        return this.#snapshot(topic, after);
      };
      // Nobody may have looked while nobody followed.
      if (isReplayable) this.#lookAtPlaces();
      let next: readonly JobEvent[] = isReplayable ? this.#replay(topic, since) : await snapshot(since);
      while (!signal?.aborted) {
        for (const event of next) {
          yield event;
          given = event.id;
          if (topic !== 'all' && 'jobId' in topic && isLast(event)) return;
          if (signal?.aborted) return;
        }
        const taken = await feed.take();
        if (taken === 'ended') return;
        next = taken === 'overrun' ? await snapshot(given) : taken.filter(({ id }) => id > told);
      }
    } finally {
      this.#feeds.delete(feed);
    }
  }

  async backlogSeconds(): Promise<number | null> {
    const running = [...this.#live.values()].flatMap(({ progress }) => (progress ? [progress.secondsLeft] : []));
    const waiting = (await this.#queue.places()).map(({ shape }) => this.#timelines.total(shape));
    const ahead = [...running, ...waiting].reduce<number | null>(addKnown, 0);
    return ahead === null ? null : ahead / this.#options.workers;
  }

  /** Waits until all changes made so far have been told. */
  async settle(): Promise<void> {
    await this.#changes;
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
    clearTimeout(this.#placeTimer);
    for (const feed of this.#feeds) feed.end();
  }

  #stateOf(jobId: string): LiveState {
    const known = this.#live.get(jobId);
    if (known) return known;
    const state: LiveState = { progress: null, preview: null };
    this.#live.set(jobId, state);
    return state;
  }

  #replay(topic: EventTopic, since: number): readonly JobEvent[] {
    const missed = this.#log.filter((event) => event.id > since && isAbout(event, topic));
    const previews = [...this.#live.values()].flatMap(({ preview }) =>
      preview !== null && preview.id > since && isAbout(preview, topic) ? [preview] : [],
    );
    return [...missed, ...previews].sort((a, b) => a.id - b.id);
  }

  /**
   * The present state of the topic's jobs, as events that carry the number of the last one: of those that wait or run, and of
   * those whose end somebody who knows the events up to `after` may have missed.
   */
  async #snapshot(topic: EventTopic, after: number | undefined): Promise<readonly JobEvent[]> {
    const id = this.#lastId;
    const at = this.#options.now();
    const [jobs, places] = [await this.#jobsOf(topic, after), await this.#queue.places()];
    const left = this.#waits(places);
    return jobs.flatMap((job): JobEvent[] => {
      const fields = { id, at, jobId: job.id, owner: job.owner };
      const { status, error, attempts } = job;
      const events: JobEvent[] = [{ ...fields, type: 'status', status, error, attempts }];
      const waits = left.get(job.id);
      if (waits) events.push({ ...fields, type: 'place', ...waits });
      const live = this.#live.get(job.id);
      const progress = live?.progress ?? job.progress;
      if (status === 'in_progress' && progress) events.push({ ...fields, type: 'progress', progress });
      if (live?.preview) events.push({ ...live.preview, id });
      return finalStatus.has(status) ? events.sort((a, b) => Number(isLast(a)) - Number(isLast(b))) : events;
    });
  }

  async #jobsOf(topic: EventTopic, after: number | undefined): Promise<readonly JobRecord[]> {
    if (topic !== 'all' && 'jobId' in topic) {
      const job = await this.#queue.get(topic.jobId);
      return job ? [job] : [];
    }
    const owner = topic === 'all' ? undefined : topic.owner;
    const query = { owner, limit: 1000, order: 'asc' } as const;
    const running = await this.#queue.list({ ...query, status: 'in_progress' });
    const queued = await this.#queue.list({ ...query, status: 'queued' });
    if (after === undefined) return [...running.jobs, ...queued.jobs];
    // A number is never ahead of the clock: what ended after its event ended after that time.
    const ended = await this.#queue.list({ ...query, order: 'desc', endedFrom: Math.floor(after / 1000) });
    return [...ended.jobs.toReversed(), ...running.jobs, ...queued.jobs];
  }

  // Changes are told in the order in which they were made, each with the record as it was read then.
  #hear({ id, owner, change }: JobChange): void {
    this.#lookAtPlaces();
    this.#changes = this.#changes.then(async () => {
      const job = change === 'deleted' ? null : await this.#queue.get(id);
      if (!job) {
        if (change === 'deleted') this.publish({ type: 'deleted', jobId: id, owner });
        this.#forget(id);
        this.#lastStatus.delete(id);
        return;
      }
      const { status, error, attempts } = job;
      const key = `${status} ${attempts}`;
      if (this.#lastStatus.get(id) === key) return;
      if (finalStatus.has(status)) this.#lastStatus.delete(id);
      else this.#lastStatus.set(id, key);
      this.publish({ type: 'status', jobId: id, owner, status, error, attempts });
      if (status !== 'in_progress') this.#forget(id);
    });
  }

  #forget(id: string): void {
    this.#live.delete(id);
    this.#lastPlace.delete(id);
  }

  #lookAtPlaces(): void {
    if (this.#feeds.size === 0 || this.#placeTimer !== undefined) return;
    this.#placeTimer = setTimeout(() => {
      this.#placeTimer = undefined;
      this.#changes = this.#changes.then(() => this.#tellPlaces());
    }, this.#options.placeEveryMs);
    this.#placeTimer.unref();
  }

  async #tellPlaces(): Promise<void> {
    const places = await this.#queue.places();
    const waits = this.#waits(places);
    const topics = [...this.#feeds].map(({ topic }) => topic);
    const isFollowedByAll = topics.includes('all');
    const followed = new Set(topics.map((topic) => (topic === 'all' ? '' : JSON.stringify(topic))));
    for (const { jobId, owner } of places) {
      const wait = waits.get(jobId);
      const isFollowed =
        isFollowedByAll || followed.has(JSON.stringify({ jobId })) || followed.has(JSON.stringify({ owner }));
      if (!wait || !isFollowed) continue;
      const key = `${wait.place}`;
      if (this.#lastPlace.get(jobId) === key) continue;
      this.#lastPlace.set(jobId, key);
      this.publish({ type: 'place', jobId, owner, ...wait });
    }
  }

  /** Place and time left of each waiting job: what is left of running jobs and all jobs before it, shared by the workers. */
  #waits(places: readonly QueuePlace[]): ReadonlyMap<string, { place: number; secondsLeft: number | null }> {
    const running = [...this.#live.values()].flatMap(({ progress }) => (progress ? [progress.secondsLeft] : []));
    let ahead: number | null = running.reduce<number | null>(addKnown, 0);
    const waits = new Map<string, { place: number; secondsLeft: number | null }>();
    for (const { jobId, place, shape } of places) {
      const own = this.#timelines.total(shape);
      const secondsLeft: number | null = ahead === null || own === null ? null : ahead / this.#options.workers + own;
      waits.set(jobId, { place, secondsLeft });
      ahead = addKnown(ahead, own);
    }
    return waits;
  }
}

function addKnown(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

/** Whether a job's stream ends with the event. */
function isLast(event: JobEvent): boolean {
  return event.type === 'deleted' || (event.type === 'status' && finalStatus.has(event.status));
}
