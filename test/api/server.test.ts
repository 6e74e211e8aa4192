// One server, driven by plain HTTP: what it says of itself, models, pictures, chat, numbers and logs.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, ImageResponse, ModelDetails, ModelList } from '../../src/protocol/index.js';
import { postJson, readFailure, readJson } from './requests.js';
import { runProgram } from './run-program.js';
import { type StartedServer, startServer } from './start-server.js';

let server: StartedServer;
beforeAll(async () => {
  server = await startServer({
    flags: [
      '--served-model-name',
      'nvidia/Cosmos3-Nano',
      '--served-model-name',
      'tiny',
      '--allow-origin',
      'http://page.example',
    ],
  });
}, 90_000);
afterAll(async () => server?.[Symbol.asyncDispose]());

const get = (path: string, init?: RequestInit) => fetch(`${server.url}${path}`, init);
const post = (path: string, body: unknown) => postJson(`${server.url}${path}`, body);
const client = () => createClient({ baseUrl: server.url });

describe('the server itself', () => {
  test('is healthy, ready, and of a version', async () => {
    expect(await (await get('/health')).json()).toEqual({ status: 'healthy' });
    expect(await (await get('/ready')).json()).toMatchObject({
      ready: true,
      workers: [{ device: 'cpu', status: 'idle' }],
    });
    expect(await (await get('/version')).json()).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
    expect((await get('/ping')).status).toBe(200);
  });

  test('lists its model under all names, and describes it', async () => {
    const list = await client().models();
    expect(Value.Errors(ModelList, list)).toEqual([]);
    expect(list.data.map(({ id }) => id)).toEqual(['nvidia/Cosmos3-Nano', 'tiny']);
    const details = await client().model('nvidia/Cosmos3-Nano');
    expect(Value.Errors(ModelDetails, details)).toEqual([]);
    expect(details.tasks.map(({ task }) => task)).toContain('inverse-dynamics');
    expect((await get('/v1/models/nvidia/Cosmos3-Nano')).status).toBe(200);
    expect(await readFailure(await get('/v1/models/other'))).toMatchObject({ status: 404, reason: 'not_found' });
  });

  test('documents itself', async () => {
    const document: {
      openapi: string;
      paths: Record<
        string,
        Record<string, { requestBody?: { content: Record<string, { schema: { properties: object } }> } }>
      >;
    } = await readJson(await get('/openapi.json'));
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        '/v1/videos',
        '/v1/videos/sync',
        '/v1/videos/{id}/content',
        '/v1/images/generations',
        '/v1/events',
      ]),
    );
    const content = document.paths['/v1/videos']?.post?.requestBody?.content ?? {};
    expect(Object.keys(content)).toEqual([
      'multipart/form-data',
      'application/x-www-form-urlencoded',
      'application/json',
    ]);
    expect(content['application/json']?.schema.properties).toHaveProperty('num_inference_steps');
    const page = await (await get('/docs')).text();
    expect(page).toContain('/v1/videos/sync');
    expect(page).toContain('num_inference_steps');
  });

  test('answers what it does not have with an error body', async () => {
    expect(await readFailure(await get('/v1/nothing'))).toMatchObject({ status: 404, type: 'Not Found' });
    expect(await readFailure(await post('/v1/images/edits', {}))).toMatchObject({
      status: 501,
      reason: 'not_implemented',
    });
    expect((await readFailure(await get('/v1/nothing', { method: 'DELETE' }))).status).toBe(404);
    for (const [path, method, allow] of [
      ['/v1/videos', 'DELETE', 'GET, HEAD, POST'],
      ['/v1/videos/x/cancel', 'GET', 'POST'],
      ['/v1/models', 'POST', 'GET, HEAD'],
    ] as const) {
      const answer = await get(path, { method });
      expect(answer.headers.get('allow')).toBe(allow);
      expect(await readFailure(answer)).toMatchObject({ status: 405, reason: 'method_not_allowed' });
    }
  });

  test('echoes request ids, and lets pages of allowed origins in', async () => {
    expect((await get('/health', { headers: { 'x-request-id': 'abc-1' } })).headers.get('x-request-id')).toBe('abc-1');
    const answer = await get('/v1/videos', {
      method: 'OPTIONS',
      headers: { origin: 'http://page.example', 'access-control-request-method': 'POST' },
    });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, 'http://page.example']);
    expect(answer.headers.get('access-control-allow-headers')).toContain('x-orrery-priority');
    expect(
      (await get('/health', { headers: { origin: 'http://other.example' } })).headers.get(
        'access-control-allow-origin',
      ),
    ).toBeNull();
  });
});

describe('pictures', () => {
  const picture = { prompt: 'A red ball', size: '64x64', num_inference_steps: 2, guidance_scale: 1, seed: 42 };

  test('come as base64, the same for the same seed', async () => {
    const first = await client().createImage(picture);
    expect(Value.Errors(ImageResponse, first)).toEqual([]);
    const bytes = Buffer.from(first.data[0]?.b64_json ?? '', 'base64');
    expect(bytes.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([64, 64]);
    expect([first.size, first.output_format, first.seeds]).toEqual(['64x64', 'png', [42]]);
    const again = await client().createImage(picture);
    expect(again.data).toEqual(first.data);
  });

  test('come several at a time, of one generator', async () => {
    const two = await client().createImage({ ...picture, n: 2 });
    const first = await client().createImage(picture);
    const second = await client().createImage({ ...picture, extra_params: { noise_index: 1 } });
    expect(two.seeds).toEqual([42, 42]);
    expect(two.data[0]).toEqual(first.data[0]);
    expect(two.data[1]).not.toEqual(first.data[0]);
    expect(two.data[1]).toEqual(second.data[0]);
  });

  test('come as files, and as an archive', async () => {
    const file = await post('/v1/images/generations', { ...picture, response_format: 'file', output_format: 'webp' });
    expect(file.headers.get('content-type')).toBe('image/webp');
    expect(file.headers.get('content-disposition')).toMatch(/^attachment; filename=image_[0-9a-f]{8}\.webp$/);
    expect(Buffer.from(await file.arrayBuffer()).toString('latin1', 8, 12)).toBe('WEBP');
    const zip = await post('/v1/images/generations', { ...picture, response_format: 'file', n: 2 });
    expect(zip.headers.get('content-type')).toBe('application/zip');
    const path = join(server.folder, 'pictures.zip');
    await writeFile(path, Buffer.from(await zip.arrayBuffer()));
    const { stdout } = await runProgram('python3', ['-m', 'zipfile', '-l', path]);
    expect(stdout).toContain('image_0.png');
    expect(stdout).toContain('image_1.png');
  });

  test.each([
    [{ size: '' }, 'size', /^Size must be a non-empty string/],
    [{ size: '64by64' }, 'size', /^Invalid size format: '64by64'\. Expected format: 'WIDTHxHEIGHT'/],
    [{ size: '0x64' }, 'size', /^Invalid size: 0x64\. Width and height must be positive integers\./],
    [{ size: '9000x9000' }, 'size', /pixels/],
    [{ n: 11 }, 'n', /from 1 to 10/],
    [{ model: 'X' }, 'model', /^Model mismatch: request specifies 'X' but server is running 'nvidia\/Cosmos3-Nano'\.$/],
    [{ response_format: 'url' }, 'response_format', /b64_json/],
    [{ lora: { name: 'a' } }, 'lora', /^Invalid lora object: both name and path are required\.$/],
    [{ prompt: null }, 'prompt', /prompt/],
    [{ generate_sound: true }, 'generate_sound', /text-to-image with sound is unsupported/],
    [{ prompt: 'porn' }, 'prompt', /^Input was blocked by Cosmos3 guardrails\.$/],
  ])('are refused with %j', async (change, param, message) => {
    const error = await readFailure(await post('/v1/images/generations', { ...picture, ...change }));
    expect(error).toMatchObject({ status: 400, param, type: 'Bad Request' });
    expect(error.message).toMatch(message);
  });

  test('come by chat as well', async () => {
    const answer = await post('/v1/chat/completions', {
      model: 'tiny',
      messages: [
        { role: 'system', content: 'x' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'A red' },
            { type: 'text', text: 'ball' },
          ],
        },
      ],
      extra_body: { size: '64x64', num_inference_steps: 2, guidance_scale: 1, seed: 42 },
      temperature: 1,
    });
    const body: { choices: { message: { content: { image_url: { url: string } }[] } }[]; usage: object } =
      await readJson(answer);
    const first = await client().createImage(picture);
    expect(body.choices[0]?.message.content[0]?.image_url.url).toBe(`data:image/png;base64,${first.data[0]?.b64_json}`);
    expect(body.usage).toEqual({ prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 });
    expect(await readFailure(await post('/v1/chat/completions', { messages: [] }))).toMatchObject({
      status: 400,
      message: 'No text prompt found in messages',
    });
  });
});

test('numbers are there for Prometheus, with the prefix', async () => {
  const text = await (await get('/metrics')).text();
  for (const name of [
    'jobs_accepted_total',
    'job_wait_seconds_bucket',
    'phase_seconds_bucket',
    'steps_per_second',
    'guardrail_decisions_total',
    'http_request_seconds_bucket',
    'worker_resident_bytes',
    'http_refusals_total',
    'steps_total{work="computed"}',
    'text_cache_misses_total',
  ])
    expect(text).toContain(`orrery_${name}`);
  // Pictures above were asked for again, word for word.
  expect(text).toMatch(/orrery_text_cache_hits_total [1-9]/);
  expect(text).toMatch(
    /orrery_guardrail_decisions_total\{checker="blocklist",subject="prompt",outcome="blocked",category="sexual content"\} \d/,
  );
  expect(text.split('\n').filter((line) => line !== '' && !/^(# (HELP|TYPE) )?orrery_/.test(line))).toEqual([]);
});

test('the log names requests and no prompt', () => {
  const text = JSON.stringify(server.log());
  expect(text).not.toContain('A red ball');
  expect(text).not.toContain('porn');
  const job = server.log().find(({ msg, kind }) => msg === 'job ended' && kind === 'image');
  expect(job).toMatchObject({ request_id: expect.stringMatching(/\w/), status: expect.any(String) });
});
