// Live events over a line that breaks: connects again by itself, continues where it was, notices a line that is dead.
import type { JobEventMessage } from '../responses/events.js';
import { jobEventNames } from '../responses/events.js';
import { OrreryClientError } from './client-error.js';
import { readEvents } from './read-events.js';

/** How to follow. */
export interface FollowEventsOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called at each connection, the first one too: what ended while the line was down is to be looked up then. */
  readonly onOpen?: (() => void) | undefined;
  /** Called when the line breaks; it is opened again after a pause. */
  readonly onLost?: ((error: unknown) => void) | undefined;
  /** Silence after which the line counts as dead; the server speaks every 15 s. 40 s where absent. */
  readonly silenceMs?: number | undefined;
  /** The first pause before another try; it doubles up to 5 s. 500 ms where absent. */
  readonly retryMs?: number | undefined;
}

/** Opens the stream. */
export type OpenStream = (init: RequestInit) => Promise<Response>;

const longestPauseMs = 5000;

/**
 * Follows a stream until its last event, or for ever.
 * @param endsWithJob the stream is of one job and ends with it
 * @throws OrreryClientError where the server refuses for good (4xx)
 */
export async function* followEvents(
  open: OpenStream,
  endsWithJob: boolean,
  options: FollowEventsOptions = {},
): AsyncGenerator<JobEventMessage, void> {
  const { signal, onOpen, onLost, silenceMs = 40_000, retryMs = 500 } = options;
  let last: string | undefined;
  let pause = retryMs;
  while (signal?.aborted !== true) {
    const watch = new Watchdog(silenceMs, signal);
    try {
      const response = await open({
        headers: { accept: 'text/event-stream', ...(last === undefined ? {} : { 'last-event-id': last }) },
        signal: watch.signal,
      });
      onOpen?.();
      for await (const { id, event, data } of readEvents(watch.listen(response))) {
        last = id;
        pause = retryMs;
        const message = toMessage(id, event, data);
        if (message === undefined) continue;
        yield message;
        if (endsWithJob && isLast(message)) return;
      }
      onLost?.(new Error('the stream ended'));
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof OrreryClientError && error.status < 500 && error.status !== 429) throw error;
      onLost?.(error);
    } finally {
      watch.end();
    }
    await rest(pause, signal);
    pause = Math.min(longestPauseMs, pause * 2);
  }
}

/** Ends a request on which nothing arrives: after sleep, a line may stay open that leads nowhere. */
class Watchdog {
  readonly #stop = new AbortController();
  readonly #leave: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly silenceMs: number,
    private readonly outer: AbortSignal | undefined,
  ) {
    this.#leave = () => this.#stop.abort();
    outer?.addEventListener('abort', this.#leave, { once: true });
    this.#hear();
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The bytes of a body. Browsers do not all iterate one; its reader they all have. */
  async *listen(response: Response): AsyncGenerator<Uint8Array, void> {
    const reader = response.body?.getReader();
    if (reader === undefined) return;
    try {
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        this.#hear();
        yield piece.value;
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.outer?.removeEventListener('abort', this.#leave);
    this.#stop.abort();
  }

  #hear(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#leave, this.silenceMs);
  }
}

function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
    signal?.addEventListener('abort', done, { once: true });
  });
}

function toMessage(id: string, event: string, data: string): JobEventMessage | undefined {
  const name = jobEventNames.find((known) => known === event);
  if (name === undefined) return undefined;
  const message: JobEventMessage = { id: Number(id), event: name, data: JSON.parse(data) };
  return message;
}

function isLast({ event, data }: JobEventMessage): boolean {
  if (event === 'deleted') return true;
  return event === 'status' && ['completed', 'failed', 'cancelled'].includes(data.status);
}
