// What no client should send: every request gets a 4xx, none a 5xx, the memory stays bounded, the next request is served.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { crc32, deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../src/protocol/index.js';
import { sampleBadRequests } from './malformed-requests.js';
import { type StartedServer, startServer } from './start-server.js';

let server: StartedServer;
let idle = 0;
let most = 0;
let watch: NodeJS.Timeout;

const residentMb = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

beforeAll(async () => {
  server = await startServer({
    flags: [
      '--max-upload-size',
      String(4 * 2 ** 20),
      '--max-json-size',
      String(2 ** 20),
      '--request-timeout',
      '2',
      '--media-timeout',
      '10',
    ],
  });
  idle = residentMb();
  watch = setInterval(() => {
    most = Math.max(most, residentMb());
  }, 100);
}, 90_000);
afterAll(async () => {
  clearInterval(watch);
  await server?.[Symbol.asyncDispose]();
});

interface Refusal {
  readonly status: number;
  readonly param: string | null;
  readonly text: string;
}

async function send(path: string, init: RequestInit): Promise<Refusal> {
  const response = await fetch(`${server.url}${path}`, { method: 'POST', ...init });
  const text = await response.text();
  const body: { error?: { param?: string | null } } = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: response.status, param: body.error?.param ?? null, text };
}

test('480 requests with one field wrong are refused, with its name', { timeout: 120_000 }, async () => {
  const requests = [...sampleBadRequests(480, 20_261_130)];
  const wrong: string[] = [];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let next = requests.pop(); next !== undefined; next = requests.pop()) {
        const { path, contentType, body, param } = next;
        const {
          status,
          param: named,
          text,
        } = await send(path, { body, headers: contentType === null ? {} : { 'content-type': contentType } });
        const names =
          named !== null &&
          (named === param ||
            named.startsWith(`${param}.`) ||
            ['edge', 'action_mode', 'action', 'image', 'video', 'domain_name'].includes(named));
        if (status < 400 || status >= 500 || !names)
          wrong.push(
            `${status} ${path} ${param} -> ${named}: ${typeof body === 'string' ? body.slice(0, 200) : JSON.stringify([...body.entries()])} ${text.slice(0, 200)}`,
          );
      }
    }),
  );
  expect(wrong).toEqual([]);
});

/** Writes bytes to the server as they are. Gives what it answers until it closes. */
async function raw(pieces: readonly (string | Buffer)[], pauseMs = 0): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    answer += text;
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  for (const piece of pieces) {
    socket.write(piece);
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  const end = Date.now() + 10_000;
  while (!socket.closed && Date.now() < end && !/\r\n\r\n[\s\S]*\}$/.test(answer))
    await new Promise((resolve) => setTimeout(resolve, 20));
  socket.destroy();
  return answer;
}

const head = (type: string, length: number) =>
  `POST /v1/videos HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;
const multipart = 'multipart/form-data; boundary=b';

/** A PNG of one color whose pixels take gigabytes. */
function pngBomb(side: number): Uint8Array<ArrayBuffer> {
  const chunk = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(body));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.from('0000000000000000080200 0000'.replace(' ', ''), 'hex');
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  const rows = deflateSync(Buffer.alloc(20 * 2 ** 20));
  return new Uint8Array(
    Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      chunk('IHDR', header),
      chunk('IDAT', rows),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  );
}

function upload(
  name: string,
  bytes: Uint8Array<ArrayBuffer> | string,
  fields: Readonly<Record<string, string>> = {},
): RequestInit {
  const body = new FormData();
  for (const [key, value] of Object.entries({ prompt: 'A ball.', ...fields })) body.append(key, value);
  body.append(name, new Blob([bytes]), 'file.png');
  return { body };
}

describe('bodies that are none', () => {
  const json = (body: string): RequestInit => ({ body, headers: { 'content-type': 'application/json' } });
  const cases: readonly (readonly [string, () => RequestInit, number])[] = [
    ['text', () => json('hello'), 400],
    ['half of an object', () => json('{"prompt": "x"'), 400],
    ['a list', () => json('[1,2]'), 400],
    ['a number too large', () => json('{"prompt":"x","seed":1e999}'), 400],
    ['a bomb of lists', () => json('['.repeat(200_000) + ']'.repeat(200_000)), 400],
    ['a bomb of objects', () => json(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`), 400],
    ['a bomb inside of a field', () => json(JSON.stringify({ prompt: 'x', extra_params: '['.repeat(100_000) })), 400],
    ['a megabyte too much', () => json(JSON.stringify({ prompt: 'x'.repeat(1_200_000) })), 413],
    ['nothing', () => ({ headers: { 'content-type': 'application/json' } }), 400],
    ['XML', () => ({ body: '<a/>', headers: { 'content-type': 'application/xml' } }), 415],
    [
      'compressed JSON',
      () => ({ body: '{}', headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } }),
      415,
    ],
    ['a form without a boundary', () => ({ body: 'x', headers: { 'content-type': 'multipart/form-data' } }), 400],
    ['a form that is none', () => ({ body: 'x', headers: { 'content-type': multipart } }), 400],
    [
      'a form with keys of objects',
      () => ({
        body: 'extra_params[__proto__][x]=1&prompt=a',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
      400,
    ],
    ['a field too large', () => upload('input_reference', 'x', { negative_prompt: 'x'.repeat(1_200_000) }), 413],
    ['a file too large', () => upload('input_reference', new Uint8Array(5 * 2 ** 20)), 413],
    ['an empty picture', () => upload('input_reference', ''), 400],
    ['a picture that is text', () => upload('input_reference', 'not a picture at all'), 400],
    ['a picture that is cut short', () => upload('input_reference', pngBomb(2000).slice(0, 9000)), 400],
    ['a picture that is a bomb', () => upload('input_reference', pngBomb(60_000)), 400],
    [
      'a clip that is cut short',
      () =>
        upload(
          'input_reference',
          new Uint8Array(Buffer.from('0000001866747970697 36f6d0000020069736f6d69736f32'.replace(' ', ''), 'hex')),
        ),
      400,
    ],
    ['a control map of an unknown kind', () => upload('control_reference', 'x', { control_type: 'taste' }), 400],
  ];
  test.each(cases)('%s', async (_, make, status) => {
    const answer = await send('/v1/videos', make());
    expect(answer.status, answer.text).toBe(status);
  });

  test('300 fields', async () => {
    const body = new FormData();
    for (let i = 0; i < 300; i++) body.append(`f${i}`, 'x');
    expect((await send('/v1/videos', { body })).status).toBe(413);
  });
});

describe('connections that misbehave', () => {
  test('no HTTP', async () => expect(await raw(['HELLO\r\n\r\n'])).toMatch(/^HTTP\/1\.1 400 /));
  test('headers without end', async () =>
    expect(await raw([`GET /health HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`])).toMatch(/^HTTP\/1\.1 431 /));
  test('a multipart form that breaks off', async () => {
    const body =
      '--b\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nA ball.\r\n--b\r\nContent-Disposition: form-data; name="input_reference"; filename="a.png"\r\n\r\nhalf';
    expect(await raw([head(multipart, body.length), body])).toMatch(/^HTTP\/1\.1 400 /);
  });
  test('a form that never comes', { timeout: 20_000 }, async () => {
    expect(await raw([head('application/json', 100), '{'])).toMatch(/^HTTP\/1\.1 408 /);
  });
  test('a form that drips', { timeout: 20_000 }, async () => {
    expect(await raw([head('application/json', 1000), ...'{"prompt":"'.split('')], 300)).toMatch(/^HTTP\/1\.1 408 /);
  });
  test('two gigabytes', { timeout: 30_000 }, async () => {
    const size = 2 ** 31;
    const start = '--b\r\nContent-Disposition: form-data; name="input_reference"; filename="a.png"\r\n\r\n';
    const pieces = Array.from({ length: 8 }, () => Buffer.alloc(2 ** 20));
    expect(await raw([head(multipart, size), start, ...pieces])).toMatch(/^HTTP\/1\.1 413 /);
  });
  test('callers who leave', async () => {
    for (let i = 0; i < 10; i++) {
      const leave = new AbortController();
      const asked = fetch(`${server.url}/v1/videos/sync`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ prompt: 'A ball.', size: '64x64', num_frames: 5, num_inference_steps: 50 }),
        signal: leave.signal,
      });
      setTimeout(() => leave.abort(), 30);
      await expect(asked).rejects.toThrow();
    }
    // Their jobs are gone: the device is free for the next one.
    const picture = await createClient({ baseUrl: server.url }).createImage({
      prompt: 'A ball.',
      size: '64x64',
      num_inference_steps: 1,
      guidance_scale: 1,
    });
    expect(picture.data).toHaveLength(1);
  });
});

test('the server is well afterwards', async () => {
  const client = createClient({ baseUrl: server.url });
  expect((await client.models()).data).toHaveLength(1);
  const picture = await client.createImage({
    prompt: 'A ball.',
    size: '64x64',
    num_inference_steps: 1,
    guidance_scale: 1,
  });
  expect(picture.data).toHaveLength(1);
  expect(server.log().filter(({ level }) => level === 'error')).toEqual([]);
  expect(most - idle).toBeLessThan(300);
});
