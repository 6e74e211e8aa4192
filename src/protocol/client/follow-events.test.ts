import { describe, expect, it } from 'vitest';
import type { JobEventMessage } from '../responses/events.js';
import { OrreryClientError } from './client-error.js';
import { followEvents, type OpenStream } from './follow-events.js';

const status = (id: number, word: string) =>
  `id: ${id}\nevent: status\ndata: {"job_id":"x","at":${id},"status":"${word}","attempts":1,"error":null}\n\n`;

/** A server that gives each connection the next of some answers, and notes what it was asked. */
function serverOf(...answers: readonly (string | Error | ((init: RequestInit) => Response))[]) {
  const asked: (string | null)[] = [];
  const open: OpenStream = async (init) => {
    const answer = answers[asked.length] ?? new Error('nobody there');
    asked.push(new Headers(init.headers).get('last-event-id'));
    if (answer instanceof Error) throw answer;
    return typeof answer === 'string' ? new Response(answer) : answer(init);
  };
  return { asked, open };
}

async function collect(events: AsyncGenerator<JobEventMessage, void>): Promise<string[]> {
  const words: string[] = [];
  for await (const { id, event, data } of events) words.push(`${id} ${event === 'status' ? data.status : event}`);
  return words;
}

const fast = { retryMs: 1, silenceMs: 1000 };

describe('following events', () => {
  it('goes on where it was when the line breaks or the server is away', async () => {
    const { asked, open } = serverOf(
      status(1, 'queued'),
      new TypeError('fetch failed'),
      new OrreryClientError(503, 'unavailable', null, 'starting'),
      status(2, 'in_progress') + status(3, 'completed') + status(4, 'queued'),
    );
    const told: string[] = [];
    const options = { ...fast, onOpen: () => told.push('open'), onLost: (error: unknown) => told.push(String(error)) };
    expect(await collect(followEvents(open, true, options))).toEqual(['1 queued', '2 in_progress', '3 completed']);
    expect(asked).toEqual([null, '1', '1', '1']);
    expect(told).toEqual([
      'open',
      'Error: the stream ended',
      'TypeError: fetch failed',
      'OrreryClientError: starting',
      'open',
    ]);
  });

  it('gives up where the server refuses', async () => {
    const { open } = serverOf(new OrreryClientError(401, 'unauthorized', null, 'no'));
    await expect(collect(followEvents(open, false, fast))).rejects.toThrow('no');
  });

  it('takes a silent line for a dead one', async () => {
    const hanging = ({ signal }: RequestInit) =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            controller.enqueue(new TextEncoder().encode(status(7, 'queued')));
            signal?.addEventListener('abort', () => controller.error(new Error('aborted')));
          },
        }),
      );
    const { asked, open } = serverOf(hanging, status(8, 'failed'));
    expect(await collect(followEvents(open, true, { retryMs: 1, silenceMs: 30 }))).toEqual(['7 queued', '8 failed']);
    expect(asked).toEqual([null, '7']);
  });

  it('ends with its signal, also while it waits to try again', async () => {
    const stop = new AbortController();
    const { asked, open } = serverOf();
    setTimeout(() => stop.abort(), 20);
    expect(await collect(followEvents(open, false, { retryMs: 5000, signal: stop.signal }))).toEqual([]);
    expect(asked).toEqual([null]);
  });
});
