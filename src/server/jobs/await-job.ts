// Waits for a job on behalf of a caller on the line: until it ends, the caller leaves, or the time is over.
import type { FastifyReply } from 'fastify';
import type { JobQueue, JobRecord } from '../../engine/jobs/types.js';
import { RequestError } from '../../protocol/index.js';

const ends: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled', 'deleted']);

/** Whoever waited has closed the connection; there is nobody to answer. */
export class CallerGoneError extends Error {
  override readonly name = 'CallerGoneError';

  constructor() {
    super('The caller has left.');
  }
}

/** How long to wait, and for whom. */
export interface Patience {
  readonly timeoutSeconds: number;
  /** Aborts when the caller has left. */
  readonly signal: AbortSignal;
  /** Aborts when the server ends. */
  readonly ending: AbortSignal;
}

/**
 * Waits until a job has ended. A caller that leaves, or waits too long, cancels it.
 * @throws RequestError `timeout`, or `unavailable` when the server ends; the signal's reason when the caller has left
 */
export async function awaitJob(
  queue: JobQueue,
  id: string,
  { timeoutSeconds, signal, ending }: Patience,
): Promise<JobRecord> {
  const isOver = await waitForEnd(queue, id, timeoutSeconds * 1000, AbortSignal.any([signal, ending]));
  const record = await queue.get(id);
  if (isOver && record !== null) return record;
  await queue.cancel(id);
  signal.throwIfAborted();
  if (ending.aborted) throw new RequestError('unavailable', null, 'The server is shutting down; try again later.');
  throw new RequestError('timeout', null, `Video generation timed out after ${timeoutSeconds.toFixed(1)}s.`);
}

function waitForEnd(queue: JobQueue, id: string, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const settle = (isOver: boolean) => {
      stop();
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      resolve(isOver);
    };
    const leave = () => settle(false);
    const timer = setTimeout(() => settle(false), timeoutMs);
    signal.addEventListener('abort', leave, { once: true });
    const stop = queue.subscribe((change) => {
      if (change.id === id && ends.has(change.change)) settle(true);
    });
    if (signal.aborted) leave();
    // It may have ended before anybody listened.
    queue.get(id).then((record) => {
      if (record === null || ends.has(record.status)) settle(record !== null);
    }, reject);
  });
}

/** Aborts when the client closes the connection before its reply was written. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new CallerGoneError());
  });
  return gone.signal;
}
