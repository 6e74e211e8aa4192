// Clients as people use them: the openai package, keys, signed addresses, guardrails of one's own, curl.

import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../src/protocol/index.js';
import { makeRecipeMedia } from './recipe-media.js';
import { probeStreams, runScript } from './run-program.js';
import { type StartedServer, startServer } from './start-server.js';

let server: StartedServer;
let guard: { url: string; prompts: string[]; close(): void };
beforeAll(async () => {
  guard = await startGuard();
  server = await startServer({
    flags: [
      '--served-model-name',
      'house-model',
      '--api-key',
      'key-one',
      '--api-key',
      'key-two',
      '--guardrail-url',
      `${guard.url}/v1/chat/completions`,
      '--guardrail-model',
      'fake-guard',
      '--root-path',
      '/behind',
    ],
  });
  await makeRecipeMedia(server.folder);
}, 90_000);
afterAll(async () => {
  guard?.close();
  await server?.[Symbol.asyncDispose]();
});

/** A guard model that dislikes one word and breaks down at another. */
async function startGuard() {
  const prompts: string[] = [];
  const web = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      const { messages }: { messages: { content: string }[] } = JSON.parse(body);
      const prompt = messages[0]?.content ?? '';
      prompts.push(prompt);
      const words = prompt.includes('umbrella')
        ? 'Safety: Unsafe\nCategories: Violent'
        : 'Safety: Safe\nCategories: None';
      const content = prompt.includes('silence') ? 'hm' : words;
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ choices: [{ message: { content } }] }));
    });
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(web.address() as AddressInfo).port}`, prompts, close: () => web.close() };
}

const tiny = { num_frames: 5, num_inference_steps: 2, guidance_scale: 1, seed: 1 };

describe('the openai package', { timeout: 60_000 }, () => {
  const openai = () => new OpenAI({ apiKey: 'key-one', baseURL: `${server.url}/v1`, maxRetries: 0 });

  test('makes, finds, lists, downloads and deletes videos', async () => {
    // Fields that the package does not know travel flattened.
    const body = {
      model: 'house-model',
      prompt: 'A red ball.',
      seconds: '4' as const,
      size: '64x64' as never,
      ...tiny,
      extra_params: { guardrails: false },
    };
    let video = await openai().videos.create(body);
    expect(video).toMatchObject({ object: 'video', seconds: '4', size: '64x64' });
    while (video.status === 'queued' || video.status === 'in_progress') {
      await new Promise((resolve) => setTimeout(resolve, 50));
      video = await openai().videos.retrieve(video.id);
    }
    expect(video).toMatchObject({ status: 'completed', progress: 100 });
    const listed: string[] = [];
    for await (const each of openai().videos.list({ limit: 1 })) listed.push(each.id);
    expect(listed).toEqual([video.id]);
    const path = join(server.folder, 'openai.mp4');
    await writeFile(path, Buffer.from(await (await openai().videos.downloadContent(video.id)).arrayBuffer()));
    expect(await probeStreams(path)).toMatchObject([{ nb_read_frames: '5' }]);
    expect(
      await (await openai().videos.downloadContent(video.id, { variant: 'thumbnail' })).arrayBuffer(),
    ).toHaveProperty('byteLength');
    expect(await openai().videos.delete(video.id)).toMatchObject({ deleted: true });
    await expect(openai().videos.retrieve(video.id)).rejects.toMatchObject({ status: 404 });
  });

  test('starts from a picture', async () => {
    const { stdout } = await runScript('base64 -w0 reference.jpg', server.folder);
    const input_reference = await toFile(Buffer.from(stdout, 'base64'), 'reference.jpg', { type: 'image/jpeg' });
    const { id } = await openai().videos.create({
      prompt: 'It moves.',
      input_reference,
      size: '64x64' as never,
      ...tiny,
    });
    const other = await openai().videos.create({
      prompt: 'It moves.',
      input_reference: { image_url: `data:image/jpeg;base64,${stdout}` },
      size: '64x64' as never,
      ...tiny,
    });
    for (const each of [id, other.id]) await openai().videos.delete(each);
  });

  test('makes pictures', async () => {
    const made = await openai().images.generate({
      prompt: 'A red ball.',
      size: '64x64' as never,
      n: 1,
      ...{ num_inference_steps: 1, seed: 3 },
    });
    expect(Buffer.from(made.data?.[0]?.b64_json ?? '', 'base64').toString('latin1', 1, 4)).toBe('PNG');
    await expect(openai().images.generate({ prompt: 'x', size: '1by1' as never })).rejects.toMatchObject({
      status: 400,
      param: 'size',
      type: 'Bad Request',
    });
  });

  test('lists models, and chats for a picture', async () => {
    const ids: string[] = [];
    for await (const { id } of openai().models.list()) ids.push(id);
    expect(ids).toEqual(['house-model']);
    const answer = await openai().chat.completions.create({
      model: 'house-model',
      messages: [{ role: 'user', content: 'A red ball.' }],
      ...{ size: '64x64', num_inference_steps: 1 },
    });
    expect(answer.choices[0]?.finish_reason).toBe('stop');
  });
});

describe('keys', () => {
  test('are required under /v1, and only there', async () => {
    for (const headers of [
      {},
      { authorization: 'Bearer nope' },
      { authorization: 'key-one' },
      { authorization: 'Bearer key-on' },
    ]) {
      const reply = await fetch(`${server.url}/v1/models`, { headers });
      expect(reply.status).toBe(401);
      expect(JSON.parse(await reply.text())).toMatchObject({ error: 'Unauthorized' });
    }
    for (const path of ['/health', '/ready', '/version', '/metrics', '/openapi.json', '/docs'])
      expect((await fetch(server.url + path)).status).toBe(200);
    expect((await fetch(`${server.url}/v1/models`, { method: 'OPTIONS' })).status).not.toBe(401);
    expect((await fetch(`${server.url}/v1/models`, { headers: { authorization: 'bearer key-two' } })).status).toBe(200);
  });

  test('keep jobs apart, and signed addresses open one of them', async () => {
    const [one, two] = ['key-one', 'key-two'].map((apiKey) => createClient({ baseUrl: server.url, apiKey }));
    if (!one || !two) throw new Error('unreachable');
    const { id } = await one.createVideo({ prompt: 'A ball.', size: '64x64', ...tiny });
    await expect(two.video(id)).rejects.toMatchObject({ status: 404 });
    await expect(two.deleteVideo(id)).rejects.toMatchObject({ status: 404 });
    expect((await two.videos()).data).toEqual([]);
    let job = await one.video(id);
    while (job.status !== 'completed') job = await one.video(id);
    const url = job.artifacts.find(({ variant }) => variant === 'video')?.url ?? '';
    expect(url).toMatch(/^\/behind\/v1\/videos\/video_gen_\w+\/content\?variant=video&token=/);
    // The proxy takes its prefix away.
    const direct = `${server.url}${url.replace('/behind', '')}`;
    expect((await fetch(direct)).headers.get('content-type')).toBe('video/mp4');
    expect((await fetch(direct.replace('variant=video', 'variant=thumbnail'))).status).toBe(200);
    expect((await fetch(direct.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')))).status).toBe(401);
    expect((await fetch(direct.replace('/content', ''))).status).toBe(401);
    const { id: other } = await one.createVideo({ prompt: 'A ball.', size: '64x64', ...tiny });
    expect((await fetch(direct.replace(id, other))).status).toBe(401);
    for (const each of [id, other]) await one.deleteVideo(each);
  });

  test('are never in the log', () => {
    const text = JSON.stringify(server.log());
    expect(text).not.toContain('key-one');
    expect(text).not.toContain('key-two');
  });
});

describe('a guard model', () => {
  const client = () => createClient({ baseUrl: server.url, apiKey: 'key-one' });
  const picture = (prompt: string) => client().createImage({ prompt, size: '64x64', num_inference_steps: 1 });

  test('judges every prompt, and is obeyed', async () => {
    await expect(picture('a man with an umbrella')).rejects.toMatchObject({
      status: 400,
      reason: 'prompt_blocked',
      message: 'Input was blocked by Cosmos3 guardrails.',
    });
    expect(guard.prompts).toContain('a man with an umbrella');
    expect((await picture('a man with a hat')).data).toHaveLength(1);
  });

  test('is not asked about what the list refuses already', async () => {
    await expect(picture('porn')).rejects.toMatchObject({ status: 400 });
    expect(guard.prompts).not.toContain('porn');
  });

  test('stops everything when it says nothing', async () => {
    await expect(picture('a room in silence')).rejects.toMatchObject({ status: 503, reason: 'unavailable' });
  });

  test('is counted, and leaves no word in the log', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    expect(text).toMatch(
      /orrery_guardrail_decisions_total\{checker="fake-guard",subject="prompt",outcome="blocked",category="Violent"\} 1/,
    );
    expect(text).toMatch(
      /orrery_guardrail_decisions_total\{checker="fake-guard",subject="prompt",outcome="error",category=""\} 1/,
    );
    expect(JSON.stringify(server.log())).not.toContain('umbrella');
  });
});
