import { describe, expect, it } from 'vitest';
import { createClient } from './client.js';
import { OrreryClientError } from './client-error.js';
import { readEvents } from './read-events.js';

async function eventsOf(...pieces: string[]) {
  async function* stream() {
    for (const piece of pieces) yield new TextEncoder().encode(piece);
  }
  const events = [];
  for await (const event of readEvents(stream())) events.push(event);
  return events;
}

describe('server-sent events', () => {
  it('are read whatever the pieces they come in', async () => {
    const expected = [
      { id: '1', event: 'status', data: 'a\nb' },
      { id: '1', event: 'message', data: 'c' },
    ];
    const text = ': hello\nretry: 5\n\nid: 1\nevent: status\ndata: a\ndata:b\n\ndata: c\n\nevent: none\n\n';
    expect(await eventsOf(text)).toEqual(expected);
    expect(await eventsOf(...text)).toEqual(expected);
    expect(await eventsOf(...text.replaceAll('\n', '\r\n'))).toEqual(expected);
  });
});

describe('the client', () => {
  const answering = (status: number, body: string, seen: Request[] = []) =>
    createClient({
      baseUrl: 'http://server/',
      apiKey: 'k',
      fetch: async (input, init) => {
        seen.push(new Request(input, init));
        return new Response(body, { status });
      },
    });

  it('sends forms with files, and JSON inside of them', async () => {
    const seen: Request[] = [];
    await answering(200, '{"id":"x"}', seen).createVideo(
      { prompt: 'A ball', num_frames: 5, extra_params: { edge: true }, seed: undefined },
      { idempotencyKey: 'i' },
    );
    const [request] = seen;
    expect(request?.url).toBe('http://server/v1/videos');
    expect([request?.headers.get('authorization'), request?.headers.get('idempotency-key')]).toEqual(['Bearer k', 'i']);
    const form = await request?.formData();
    expect([...(form?.entries() ?? [])]).toEqual([
      ['prompt', 'A ball'],
      ['num_frames', '5'],
      ['extra_params', '{"edge":true}'],
    ]);
  });

  it('gives failed jobs, and throws errors', async () => {
    expect(await answering(400, '{"object":"video","status":"failed"}').video('a/b')).toMatchObject({
      status: 'failed',
    });
    const error = '{"error":{"message":"no","reason":"invalid_value","param":"fps"},"detail":"no"}';
    await expect(answering(400, error).createImage({})).rejects.toMatchObject({
      status: 400,
      reason: 'invalid_value',
      param: 'fps',
      message: 'no',
    });
    await expect(answering(404, error).video('x')).rejects.toThrow(OrreryClientError);
    await expect(answering(502, 'Bad gateway').models()).rejects.toThrow('Bad gateway');
  });
});
