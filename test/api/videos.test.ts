// Video jobs over plain HTTP: their life, content in parts, pages, events, cancelling, and what is refused.
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createClient,
  type JobEventMessage,
  OrreryClientError,
  VideoDeleted,
  VideoJob,
  VideoList,
} from '../../src/protocol/index.js';
import { finishedJob, postJson, readFailure, readJson, small } from './requests.js';
import { probeStreams } from './run-program.js';
import { type StartedServer, startServer } from './start-server.js';

let server: StartedServer;
beforeAll(async () => {
  server = await startServer({ flags: ['--served-model-name', 'nvidia/Cosmos3-Nano'] });
}, 90_000);
afterAll(async () => server?.[Symbol.asyncDispose]());

const get = (path: string, init?: RequestInit) => fetch(`${server.url}${path}`, init);
const post = (path: string, body: unknown) => postJson(`${server.url}${path}`, body);
const client = () => createClient({ baseUrl: server.url });
const finished = (id: string) => finishedJob(server.url, id);

describe('video jobs', () => {
  test('are made, looked up, fetched in parts, listed and deleted', async () => {
    const created = await post('/v1/videos', { ...small, no_such_field: 1, extra_params: { no_such_param: 2 } });
    expect(created.headers.get('x-orrery-ignored')).toBe('no_such_field, no_such_param');
    const job = await readJson<VideoJob>(created);
    expect(Value.Errors(VideoJob, job)).toEqual([]);
    expect(job).toMatchObject({
      object: 'video',
      model: 'nvidia/Cosmos3-Nano',
      prompt: small.prompt,
      size: '64x64',
      seconds: '4',
      quality: 'default',
    });
    expect(job.id).toMatch(/^video_gen_[0-9a-f]{32}$/);
    const done = await finished(job.id);
    expect(done).toMatchObject({
      status: 'completed',
      progress: 100,
      file_name: `${job.id}.mp4`,
      num_frames: 5,
      fps: 8,
      seed: 7,
      error: null,
      attempts: 1,
    });
    expect(done.artifacts.map(({ variant }) => variant).sort()).toEqual(['latents', 'thumbnail', 'video']);

    const whole = await get(`/v1/videos/${job.id}/content`);
    expect(whole.headers.get('content-type')).toBe('video/mp4');
    expect(whole.headers.get('content-disposition')).toBe(`attachment; filename="${job.id}.mp4"`);
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(
      done.artifacts.find(({ variant }) => variant === 'video')?.sha256,
    );
    const path = join(server.folder, 'clip.mp4');
    await writeFile(path, bytes);
    expect(await probeStreams(path)).toMatchObject([
      { codec_name: 'h264', width: 64, height: 64, nb_read_frames: '5', r_frame_rate: '8/1' },
    ]);

    const part = await get(`/v1/videos/${job.id}/content`, { headers: { range: 'bytes=10-19' } });
    expect([part.status, part.headers.get('content-range'), part.headers.get('content-length')]).toEqual([
      206,
      `bytes 10-19/${bytes.length}`,
      '10',
    ]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(10, 20));
    const tail = await get(`/v1/videos/${job.id}/content`, { headers: { range: 'bytes=-5' } });
    expect(Buffer.from(await tail.arrayBuffer())).toEqual(bytes.subarray(-5));
    expect(
      await readFailure(await get(`/v1/videos/${job.id}/content`, { headers: { range: `bytes=${bytes.length}-` } })),
    ).toMatchObject({ status: 416 });
    const head = await get(`/v1/videos/${job.id}/content`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
    const cached = await get(`/v1/videos/${job.id}/content`, {
      headers: { 'if-none-match': whole.headers.get('etag') ?? '' },
    });
    expect(cached.status).toBe(304);

    const thumbnail = await get(`/v1/videos/${job.id}/content?variant=thumbnail`);
    expect(thumbnail.headers.get('content-type')).toBe('image/webp');
    const latents = Buffer.from(await (await get(`/v1/videos/${job.id}/content?variant=latents`)).arrayBuffer());
    // 5 frames of 64x64 are 2 latent frames of 4x4.
    expect(JSON.parse(latents.toString('utf8', 8, 8 + Number(latents.readBigUInt64LE(0))))).toMatchObject({
      vision: { shape: [2, 4, 4, expect.any(Number)] },
    });
    expect(await readFailure(await get(`/v1/videos/${job.id}/content?variant=sound`))).toMatchObject({
      status: 404,
      param: 'variant',
    });

    const list = await client().videos({ limit: 1 });
    expect(Value.Errors(VideoList, list)).toEqual([]);
    expect(list.data.map(({ id }) => id)).toEqual([job.id]);
    const deleted = await client().deleteVideo(job.id);
    expect(Value.Errors(VideoDeleted, deleted)).toEqual([]);
    expect(deleted).toEqual({ id: job.id, object: 'video.deleted', deleted: true });
    expect(await readFailure(await get(`/v1/videos/${job.id}`))).toMatchObject({
      status: 404,
      message: 'Video not found',
    });
    expect((await readFailure(await get(`/v1/videos/${job.id}/content`))).status).toBe(404);
  });

  test('are the same bytes as those made on the line', async () => {
    const sync = await post('/v1/videos/sync', small);
    expect(sync.status).toBe(200);
    expect(sync.headers.get('x-request-id')).toMatch(/^video_sync-/);
    expect(sync.headers.get('x-model')).toBe('nvidia/Cosmos3-Nano');
    expect(sync.headers.get('x-inference-time-s')).toMatch(/^\d+\.\d{3}$/);
    expect(sync.headers.get('x-peak-memory-mb')).toMatch(/^\d+\.\d{3}$/);
    expect(Object.keys(JSON.parse(sync.headers.get('x-stage-durations') ?? ''))).toContain('denoise');
    const clip = Buffer.from(await sync.arrayBuffer());
    const { id } = await client().createVideo(small);
    await finished(id);
    expect(Buffer.from(await (await client().content(id)).arrayBuffer()).equals(clip)).toBe(true);
    await client().deleteVideo(id);
  });

  test('take JSON, forms and multipart alike', async () => {
    const asForm = await get('/v1/videos/sync', {
      method: 'POST',
      body: new URLSearchParams(Object.fromEntries(Object.entries(small).map(([k, v]) => [k, String(v)]))),
    });
    const multipart = new FormData();
    for (const [name, value] of Object.entries(small)) multipart.append(name, String(value));
    const asMultipart = await get('/v1/videos/sync', { method: 'POST', body: multipart });
    const asJson = await post('/v1/videos/sync', small);
    const [a, b, c] = await Promise.all(
      [asForm, asMultipart, asJson].map(async (reply) => Buffer.from(await reply.arrayBuffer())),
    );
    expect(a?.equals(b ?? Buffer.alloc(0))).toBe(true);
    expect(a?.equals(c ?? Buffer.alloc(0))).toBe(true);
  });

  test('can be paged, in both orders', async () => {
    const ids: string[] = [];
    for (let seed = 0; seed < 5; seed++) ids.push((await client().createVideo({ ...small, seed })).id);
    const asc = await client().videos({ order: 'asc', limit: 2 });
    expect(asc).toMatchObject({ has_more: true, first_id: ids[0], last_id: ids[1] });
    const next = await client().videos({ order: 'asc', limit: 2, after: ids[1] ?? '' });
    expect(next.data.map(({ id }) => id)).toEqual([ids[2], ids[3]]);
    const desc = await client().videos({ limit: 100 });
    expect(desc.data.map(({ id }) => id)).toEqual([...ids].reverse());
    expect(await client().videos({ limit: 0 })).toMatchObject({ data: [], has_more: true, first_id: null });
    expect(await client().videos({ after: 'video_gen_unknown' })).toMatchObject({ data: [], has_more: false });
    for (const [query, param] of [
      ['limit=101', 'limit'],
      ['limit=-1', 'limit'],
      ['order=up', 'order'],
    ])
      expect(await readFailure(await get(`/v1/videos?${query}`))).toMatchObject({ status: 400, param });
    for (const id of ids) await client().deleteVideo(id);
  });

  test('are cancelled while they wait and while they run', async () => {
    const long = { ...small, size: '256x256', num_frames: 61, num_inference_steps: 100 };
    const running = await client().createVideo(long);
    const waiting = await client().createVideo(long);
    while ((await client().video(running.id)).status === 'queued')
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await client().video(waiting.id)).toMatchObject({ status: 'queued', queue_place: 1 });
    expect(await readFailure(await get(`/v1/videos/${running.id}/content`))).toMatchObject({
      status: 404,
      message: 'Generation is still in-progress',
    });
    expect(await client().cancelVideo(waiting.id)).toMatchObject({ status: 'cancelled', error: null });
    const begin = performance.now();
    expect(await client().cancelVideo(running.id)).toMatchObject({ status: 'cancelled' });
    // The device is free again within moments: the next job runs.
    const next = await client().createVideo(small);
    expect((await finished(next.id)).status).toBe('completed');
    expect(performance.now() - begin).toBeLessThan(8000);
    expect(await readFailure(await get(`/v1/videos/${running.id}/content`))).toMatchObject({ status: 422 });
    await expect(client().cancelVideo(next.id)).rejects.toMatchObject({ status: 409, reason: 'job_busy' });
    for (const { id } of [running, waiting, next]) await client().deleteVideo(id);
  });

  test('are deleted while they run', async () => {
    const { id } = await client().createVideo({ ...small, size: '256x256', num_frames: 61, num_inference_steps: 100 });
    expect(await client().deleteVideo(id)).toMatchObject({ deleted: true });
    expect((await get(`/v1/videos/${id}`)).status).toBe(404);
  });

  test('are made once for one idempotency key', async () => {
    const first = await client().createVideo(small, { idempotencyKey: 'k1' });
    const again = await client().createVideo(small, { idempotencyKey: 'k1' });
    expect(again.id).toBe(first.id);
    await expect(client().createVideo({ ...small, seed: 8 }, { idempotencyKey: 'k1' })).rejects.toMatchObject({
      status: 409,
      reason: 'idempotency_conflict',
    });
    await finished(first.id);
    await client().deleteVideo(first.id);
  });

  test('tell what happens to them', async () => {
    const { id } = await client().createVideo({ ...small, num_inference_steps: 4 });
    const events: JobEventMessage[] = [];
    for await (const event of client().events(id)) events.push(event);
    expect(events.at(-1)).toMatchObject({ event: 'status', data: { job_id: id, status: 'completed' } });
    const steps = events.flatMap((event) =>
      event.event === 'progress' && event.data.progress.phase === 'denoise' ? [event.data.progress.step] : [],
    );
    expect(steps.at(-1)).toBe(4);
    const ids = events.map((event) => event.id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    // Who comes late, or again, learns the present state.
    const late: JobEventMessage[] = [];
    for await (const event of client().events(id)) late.push(event);
    expect(late.at(-1)).toMatchObject({ event: 'status', data: { status: 'completed' } });
    await client().deleteVideo(id);
  });

  test('tell of all of them on one stream', async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    const ids: string[] = [];
    const listening = (async () => {
      for await (const event of client().events(undefined, { signal: stop.signal })) {
        if (event.event === 'status' && event.data.status === 'completed' && ids.includes(event.data.job_id))
          seen.push(event.data.job_id);
        if (seen.length === 2) stop.abort();
      }
    })();
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (let seed = 0; seed < 2; seed++) ids.push((await client().createVideo({ ...small, seed })).id);
    await listening;
    expect(seen).toEqual(ids);
    for (const id of ids) await client().deleteVideo(id);
  });

  test('ignore what has no meaning, and say so', async () => {
    const reply = await post('/v1/videos', {
      ...small,
      user: 'me',
      quality: 'high',
      boundary_ratio: 0.5,
      num_outputs_per_prompt: 2,
      max_sequence_length: 4096,
    });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('x-orrery-ignored')?.split(', ').sort()).toEqual([
      'boundary_ratio',
      'num_outputs_per_prompt',
      'quality',
      'user',
    ]);
    const { id } = await readJson<VideoJob>(reply);
    await client().deleteVideo(id);
  });

  test.each([
    [{ prompt: undefined }, 400, 'prompt', /prompt is missing/],
    [{ size: '1280by720' }, 400, 'size', /^size must be WIDTHxHEIGHT/],
    [{ seconds: '0' }, 400, 'seconds', /seconds must be/],
    [{ seconds: 'abc' }, 400, 'seconds', /seconds must be/],
    [{ num_inference_steps: 201 }, 400, 'num_inference_steps', /from 1 to 200, got 201/],
    [{ guidance_scale: 21 }, 400, 'guidance_scale', /from 0 to 20/],
    [{ fps: 'Infinity' }, 400, 'fps', /fps must be/],
    [{ num_outputs_per_prompt: 11 }, 400, 'num_outputs_per_prompt', /from 1 to 10/],
    [{ quality: 'best' }, 400, 'quality', /lossless, high/],
    [{ extra_params: '{' }, 400, 'extra_params', /^Invalid JSON in form field\./],
    [{ extra_params: '[1]' }, 400, 'extra_params', /^Invalid JSON in form field: expected dict, got list\./],
    [{ image_reference: { image_url: 'x', file_id: 'y' } }, 400, 'image_reference', /not both/],
    [
      { image_reference: { file_id: 'y' } },
      400,
      'image_reference',
      /^Invalid image_reference: file_id must be one that POST \/v1\/uploads gave/,
    ],
    [
      { video_reference: { video_url: 'ftp://x/y' } },
      400,
      'video_reference',
      /^Invalid video_reference\.video_url: must be an http\(s\) URL or data URL\.$/,
    ],
    [{ image_reference: { image_url: 'http://127.0.0.1/x.png' } }, 400, 'image_reference', /does not fetch from/],
    [
      { image_reference: { image_url: 'http://169.254.169.254/latest' } },
      400,
      'image_reference',
      /does not fetch from/,
    ],
    [
      { image_reference: { image_url: 'data:image/png;base64,AAAA' } },
      400,
      'image_reference',
      /^Invalid image_reference: provided content is not a valid image or video\./,
    ],
    [
      { image_reference: { image_url: 'a' }, video_reference: { video_url: 'b' } },
      400,
      'video_reference',
      /^This diffusion model does not support mixed image and video references\.$/,
    ],
    [{ control_type: 'edge' }, 400, 'control_type', /^control_type requires a control_reference upload\.$/],
    [{ extra_params: { depth: { control_path: '/etc/passwd' } } }, 400, 'depth.control_path', /media-root/],
    [{ extra_params: { edge: true } }, 400, 'edge', /requires either a video input/],
    [{ extra_params: { depth: 5 } }, 400, 'depth', /must be an object, path string, or true/],
    [{ extra_params: { action_mode: 'policy', domain_name: 'av' } }, 400, 'image', /image/],
    [{ extra_params: { action_mode: 'walk' } }, 400, 'action_mode', /policy, forward_dynamics, inverse_dynamics/],
    [{ timeline_guides: [1] }, 400, 'timeline_guides', /does not support timeline guides/],
    [{ enable_frame_interpolation: true }, 400, 'enable_frame_interpolation', /not available/],
    [{ extra_params: { negative_metadata_mode: 'x' } }, 400, 'negative_metadata_mode', /none, same, inverse/],
    [{ prompt: 'p0rn' }, 400, 'prompt', /^Input was blocked by Cosmos3 guardrails\.$/],
  ])('are refused with %j', async (change, status, param, message) => {
    const error = await readFailure(await post('/v1/videos', { ...small, ...change }));
    expect(error).toMatchObject({ status, param });
    expect(error.message).toMatch(message);
  });

  test('skip their checks where they ask for it', async () => {
    const job = await client().createVideo({ ...small, prompt: 'porn', extra_params: { guardrails: false } });
    await client().deleteVideo(job.id);
    await expect(client().createVideo({ ...small, prompt: 'porn' })).rejects.toThrow(OrreryClientError);
  });
});
