// A guard model that looks at pictures: what it refuses is never kept.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../src/protocol/index.js';
import { finishedJob, small } from './requests.js';
import { type StartedServer, startServer } from './start-server.js';

let server: StartedServer;
let isStrict = false;
const seen: string[] = [];
const web = createServer((request, response) => {
  let body = '';
  request.on('data', (piece) => {
    body += piece;
  });
  request.on('end', () => {
    const { input }: { input: readonly { image_url?: { url: string } }[] } = JSON.parse(body);
    seen.push(input[0]?.image_url?.url.slice(0, 22) ?? '');
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ results: [{ flagged: isStrict, categories: { violence: isStrict } }] }));
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  const { port } = web.address() as AddressInfo;
  server = await startServer({ flags: ['--guardrail-frames-url', `http://127.0.0.1:${port}/v1/moderations`] });
}, 90_000);
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  web.close();
});

test('results are kept when it has seen them, and not when it refuses them', { timeout: 60_000 }, async () => {
  const client = createClient({ baseUrl: server.url });
  const passed = await finishedJob(server.url, (await client.createVideo(small)).id);
  expect(passed.status).toBe('completed');
  // Six places spread over five frames: each frame is shown once.
  expect(seen).toEqual(Array.from({ length: 5 }, () => 'data:image/jpeg;base64'));

  isStrict = true;
  const refused = await finishedJob(server.url, (await client.createVideo(small)).id);
  expect(refused).toMatchObject({
    status: 'failed',
    error: { code: 400, reason: 'prompt_blocked', message: 'Input was blocked by Cosmos3 guardrails.' },
    artifacts: [],
  });
  expect((await fetch(`${server.url}/v1/videos/${refused.id}`)).status).toBe(400);
  await expect(client.createImage({ prompt: 'A ball.', size: '64x64', num_inference_steps: 1 })).rejects.toMatchObject({
    status: 400,
  });
  const unguarded = await client.createVideo({ ...small, extra_params: { guardrails: false } });
  expect((await finishedJob(server.url, unguarded.id)).status).toBe('completed');
  const text = await (await fetch(`${server.url}/metrics`)).text();
  expect(text).toMatch(
    /orrery_guardrail_decisions_total\{checker="frames",subject="frames",outcome="blocked",category=""\} 2/,
  );
});
