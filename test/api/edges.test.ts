// What a server answers at its edges: addresses spelled otherwise, several keys that share a queue, headers of jobs, conditional reads.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { VideoJob } from '../../src/protocol/index.js';
import { runCli } from '../cli/run-cli.js';
import { postJson, readFailure, readJson, small } from './requests.js';
import { type StartedServer, startServer } from './start-server.js';

let server: StartedServer;
beforeAll(async () => {
  server = await startServer({ flags: ['--api-key', 'first', '--api-key', 'second', '--max-queue', '4'] });
}, 90_000);
afterAll(async () => server?.[Symbol.asyncDispose]());

type Headers = Readonly<Record<string, string>>;

const keyOf = (name: string) => ({ authorization: `Bearer ${name}` });
const [first, second] = [keyOf('first'), keyOf('second')];
const get = (path: string, headers: Headers = first, method = 'GET') =>
  fetch(`${server.url}${path}`, { headers, method });
const post = (path: string, body: unknown, headers: Headers = first) => postJson(`${server.url}${path}`, body, headers);
const make = async (headers: Headers, more: object = {}) =>
  readJson<VideoJob>(await post('/v1/videos', { ...small, ...more }, headers));
const look = async (id: string, headers: Headers = first) => readJson<VideoJob>(await get(`/v1/videos/${id}`, headers));

async function until(id: string, isSo: (job: VideoJob) => boolean, headers: Headers = first): Promise<VideoJob> {
  for (;;) {
    const job = await look(id, headers);
    if (isSo(job)) return job;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const hasEnded = ({ status }: VideoJob) => !['queued', 'in_progress'].includes(status);

describe('keys', () => {
  test.each(['/v1/models', '/%761/models', '/v%31/videos', '/v1/videos/', '/v1', '/v1/nothing'])(
    'are asked for at %s',
    async (path) => {
      for (const headers of [{}, keyOf('third')]) expect((await get(path, headers)).status).toBe(401);
    },
  );

  test('are not needed where the server speaks of itself', async () => {
    for (const path of ['/health', '/ready', '/version', '/metrics']) expect((await get(path, {})).status).toBe(200);
  });
});

describe('a queue that several keys share', { timeout: 60_000 }, () => {
  test('is not filled by one of them alone, obeys the order each wants, and ends jobs at their deadline', async () => {
    const running = await make(first, { num_inference_steps: 200, size: '96x96' });
    await until(running.id, ({ status }) => status === 'in_progress');
    const late = await make({ ...first, 'x-orrery-deadline': '1' });
    const low = await make({ ...first, 'x-orrery-priority': '-2' });
    const plain = await make(first);
    const high = await make({ ...first, 'x-orrery-priority': '3' });
    const full = await post('/v1/videos', small);
    expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await readFailure(full)).toMatchObject({ status: 429, reason: 'too_many_requests' });
    const other = await make(second);
    expect(other.status).toBe('queued');
    const places = await Promise.all(
      [high, plain, low].map(async ({ id }) => (await look(id)).queue_place ?? Number.NaN),
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect((await look(other.id, second)).queue_place).toBeLessThan(3);
    const failed = await until(late.id, hasEnded);
    expect(failed).toMatchObject({ status: 'failed', error: { message: expect.stringMatching(/deadline/) } });
    expect((await get(`/v1/videos/${late.id}`)).status).toBe(504);
    for (const { id } of [running, low, plain, high]) await post(`/v1/videos/${id}/cancel`, {});
    await until(other.id, hasEnded, second);
  });

  test.each([
    ['X-Orrery-Priority', '10'],
    ['X-Orrery-Priority', 'high'],
    ['X-Orrery-Deadline', '0'],
    ['X-Orrery-Deadline', '1.5'],
    ['Idempotency-Key', 'k'.repeat(256)],
  ])('%s: %s is refused', async (name, value) => {
    const failure = await readFailure(await post('/v1/videos', small, { ...first, [name]: value }));
    expect(failure).toMatchObject({ status: 400, param: name });
  });

  test('takes all pictures of a request or none', async () => {
    const running = await make(first, { num_inference_steps: 200, size: '96x96' });
    await until(running.id, ({ status }) => status === 'in_progress');
    const body = { prompt: 'A ball', size: '64x64', num_inference_steps: 1, n: 6 };
    expect((await post('/v1/images/generations', body)).status).toBe(429);
    const { queue } = await readJson<{ queue: { queued: number } }>(await get('/v1/status'));
    expect(queue.queued).toBe(0);
    await post(`/v1/videos/${running.id}/cancel`, {});
  });
});

describe('content', { timeout: 60_000 }, () => {
  test('is read under conditions, and its head without a range', async () => {
    const { id } = await make(first);
    await until(id, hasEnded);
    const path = `/v1/videos/${id}/content`;
    const head = await get(path, { ...first, range: 'bytes=0-9' }, 'HEAD');
    const [etag, length] = [head.headers.get('etag') ?? '', head.headers.get('content-length')];
    expect(head.status).toBe(200);
    expect((await (await get(path)).arrayBuffer()).byteLength).toBe(Number(length));
    expect((await get(path, { ...first, range: 'bytes=0-9' })).status).toBe(206);
    for (const given of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      expect((await get(path, { ...first, 'if-none-match': given })).status).toBe(304);
    }
    expect((await get(path, { ...first, 'if-none-match': '"other"' })).status).toBe(200);
  });
});

test('an empty upload is told in one sentence', async () => {
  const form = new FormData();
  form.set('prompt', 'x');
  form.set('input_reference', new Blob([]), 'empty.png');
  const answer = await fetch(`${server.url}/v1/videos`, { method: 'POST', body: form, headers: first });
  expect(await readFailure(answer)).toMatchObject({
    status: 400,
    param: 'input_reference',
    message: 'Invalid input_reference: provided content is not a valid image or video. It is empty.',
  });
});

describe('a server that cannot start says why', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-edges-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each([
    [['--storage-path', '/proc/orrery/store'], /cannot be kept in \/proc\/orrery\/store \(ENOENT\); choose a folder/],
    [['--storage-path', '/etc/passwd/store'], /cannot be kept in \/etc\/passwd\/store \(\w/],
    [['--default-sampling-params', '{"num_frame": 5}'], /--default-sampling-params: unknown .*did you mean num_frames/],
    [['--default-sampling-params', '{"fps": 0}'], /--default-sampling-params: fps must be/],
    [['--host', 'nowhere.invalid'], /nowhere\.invalid is no address of this machine/],
  ])('%j', async (args, message) => {
    const { code, stderr } = await runCli(['serve', '--storage-path', join(folder, 'store'), ...args], { cwd: folder });
    expect(stderr).toMatch(message);
    expect(code).toBeGreaterThan(0);
  });

  test('where its port is taken', async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port));
    });
    try {
      const args = ['serve', '--port', String(port), '--storage-path', join(folder, 'store')];
      const { code, stderr } = await runCli(args, { cwd: folder });
      expect(stderr).toContain(`port ${port} of 127.0.0.1 is taken by another program`);
      expect(code).toBe(1);
    } finally {
      taken.close();
    }
  });
});

test('a second signal ends a draining server at once', { timeout: 90_000 }, async () => {
  await using draining = await startServer();
  const { id } = await readJson<VideoJob>(
    await postJson(`${draining.url}/v1/videos`, { ...small, size: '192x192', num_inference_steps: 200 }),
  );
  while ((await readJson<VideoJob>(await fetch(`${draining.url}/v1/videos/${id}`))).status !== 'in_progress')
    await new Promise((resolve) => setTimeout(resolve, 50));
  process.kill(draining.pid, 'SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 300));
  const begin = performance.now();
  expect(await draining.stop()).toBe(143);
  expect(performance.now() - begin).toBeLessThan(2000);
});
