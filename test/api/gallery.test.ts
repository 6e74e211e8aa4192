// The doors behind the web page, driven by the typed client: plans, uploads, jobs of every kind, lists, status, keys.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createClient,
  Job,
  type JobEventMessage,
  JobList,
  type OrreryClient,
  PlanReply,
  ServerStatus,
  Upload,
} from '../../src/protocol/index.js';
import { postJson, readFailure, readJson } from './requests.js';
import { type StartedServer, startServer } from './start-server.js';

let server: StartedServer;
let client: OrreryClient;
let stranger: OrreryClient;

beforeAll(async () => {
  server = await startServer({ flags: ['--api-key', 'first', '--api-key', 'second'] });
  client = createClient({ baseUrl: server.url, apiKey: 'first' });
  stranger = createClient({ baseUrl: server.url, apiKey: 'second' });
}, 90_000);
afterAll(async () => server?.[Symbol.asyncDispose]());

const fetchPath = (path: string, init?: RequestInit) => fetch(`${server.url}${path}`, init);

const quick = { size: '64x64', num_inference_steps: 2, guidance_scale: 1, seed: 7 };
const clip = { ...quick, prompt: 'A red ball rolls.', num_frames: 5, fps: 8 };
const picture = { ...quick, prompt: 'A blue cube.', extra_params: { task: 'text-to-image' } };

async function finished(id: string): Promise<Job> {
  for (;;) {
    const job = await client.job(id);
    if (!['queued', 'in_progress'].includes(job.status)) return job;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function checked<Schema extends typeof Job | typeof JobList | typeof PlanReply | typeof ServerStatus | typeof Upload>(
  schema: Schema,
  value: unknown,
): void {
  expect(Value.Errors(schema, value)).toEqual([]);
}

const redPicture = async () =>
  new Blob([
    new Uint8Array(
      await sharp({ create: { width: 96, height: 64, channels: 3, background: { r: 200, g: 30, b: 20 } } })
        .png()
        .toBuffer(),
    ),
  ]);

describe('the plan door', () => {
  test('answers what a request would become, before anything has run', async () => {
    const plan = await client.plan(clip);
    checked(PlanReply, plan);
    expect(plan).toMatchObject({
      task: 'text-to-video',
      width: 64,
      height: 64,
      num_frames: 5,
      fps: 8,
      duration_s: 0.625,
      num_inference_steps: 2,
      guidance_scale: 1,
      seed: 7,
      sound: null,
      chunks: 1,
      passes: 2,
      seconds: null,
      seconds_basis: null,
      queue_seconds: 0,
    });
    // Two latent frames of 4 x 4, in patches of 2 x 2.
    expect(plan.tokens).toMatchObject({ vision: 8, controls: 0, sound: 0, action: 0 });
    expect(plan.tokens.total).toBe(8 + plan.tokens.text);
    expect(await client.plan(picture)).toMatchObject({ task: 'text-to-image', num_frames: 1 });
    expect((await client.jobs()).total).toBe(0);
  });

  test.each([
    [{ ...clip, size: '10x' }, 'size'],
    [{ ...clip, num_inference_steps: 1000 }, 'num_inference_steps'],
    [{ ...clip, fps: 'fast' }, 'fps'],
    [{ ...quick }, 'prompt'],
    [{ ...clip, image_reference: { file_id: 'file-1' } }, 'image_reference'],
    [{ ...clip, image_reference: { file_id: `file-${'0'.repeat(64)}` } }, 'image_reference'],
    [{ ...clip, extra_params: { edge: { file_id: 7 } } }, 'edge'],
    [{ ...clip, extra_params: { edge: { file_id: `file-${'0'.repeat(64)}` } } }, 'edge'],
    [{ ...picture, output_format: 'gif' }, 'output_format'],
  ])('refuses as a job would: %j', async (form, param) => {
    for (const ask of [() => client.plan(form), () => client.createJob(form)]) {
      await expect(ask()).rejects.toMatchObject({ status: 400, param });
    }
  });
});

describe('jobs of every kind', () => {
  test('are made, watched, listed, looked at and asked for again', { timeout: 60_000 }, async () => {
    const upload = await client.upload(await redPicture());
    checked(Upload, upload);
    expect(upload).toMatchObject({ kind: 'image', media_type: 'image/png', width: 96, height: 64, frames: null });

    const made = [
      await client.createJob(picture),
      await client.createJob({ ...picture, prompt: 'A green cube.', output_format: 'webp' }),
      await client.createJob({ ...clip, image_reference: { file_id: upload.file_id } }),
      await client.createJob({ ...clip, num_frames: 9, extra_params: { edge: { file_id: upload.file_id } } }),
    ];
    for (const job of made) checked(Job, job);
    expect(made.map(({ kind, task }) => [kind, task])).toEqual([
      ['image', 'text-to-image'],
      ['image', 'text-to-image'],
      ['video', 'image-to-video'],
      ['video', 'transfer'],
    ]);
    const events: JobEventMessage[] = [];
    for await (const event of client.events(made[3]?.id)) events.push(event);
    expect(events.at(-1)).toMatchObject({ event: 'status', data: { status: 'completed' } });
    const shown = events.flatMap((event) => (event.event === 'preview' ? [event.data] : []));
    expect(shown.at(-1)).toMatchObject({ step: 2, steps: 2, width: 320, height: 192, final: true });
    expect(shown.at(-1)?.image).toMatch(/^data:image\/webp;base64,[\w+/=]{40,32000}$/);

    const jobs: Job[] = [];
    for (const { id } of made) jobs.push(await finished(id));
    expect(jobs.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed', 'completed']);
    expect(jobs[0]).toMatchObject({ width: 64, height: 64, num_frames: 1, seed: 7, num_inference_steps: 2 });
    expect(jobs.map(({ artifacts }) => artifacts.map(({ variant, media_type }) => `${variant} ${media_type}`))).toEqual(
      [
        ['image image/png', 'thumbnail image/webp'],
        ['image image/webp', 'thumbnail image/webp'],
        ['latents application/octet-stream', 'thumbnail image/webp', 'video video/mp4'],
        ['latents application/octet-stream', 'thumbnail image/webp', 'video video/mp4'],
      ],
    );
    expect(jobs[2]?.inputs).toMatchObject([{ role: 'image', file_id: upload.file_id, media_type: 'image/png' }]);
    expect(jobs[3]?.inputs).toMatchObject([{ role: 'edge', file_id: upload.file_id }]);

    // Addresses need no header; a stranger's key opens nothing.
    const input = await fetchPath(jobs[2]?.inputs[0]?.url ?? '');
    expect(Buffer.from(await input.arrayBuffer())).toEqual(Buffer.from(await (await redPicture()).arrayBuffer()));
    expect(input.headers.get('content-security-policy')).toContain('sandbox');
    const thumbnail = await fetchPath(jobs[0]?.thumbnail_url ?? '');
    expect([thumbnail.status, thumbnail.headers.get('content-type')]).toEqual([200, 'image/webp']);
    const tampered = (jobs[0]?.thumbnail_url ?? '').replace(jobs[0]?.id ?? '', jobs[1]?.id ?? '');
    expect((await fetchPath(tampered)).status).toBe(401);
    await expect(stranger.job(jobs[0]?.id ?? '')).rejects.toMatchObject({ status: 404 });
    expect((await stranger.jobs()).total).toBe(0);
    const png = Buffer.from(await (await client.jobContent(jobs[0]?.id ?? '')).arrayBuffer());
    expect(await sharp(png).metadata()).toMatchObject({ format: 'png', width: 64, height: 64 });

    // The plan says what was settled, and the request makes the same bytes again.
    expect(await client.jobPlan(jobs[3]?.id ?? '')).toMatchObject({
      task: 'transfer',
      seed: 7,
      frames: jobs[3]?.num_frames,
    });
    for (const job of jobs) {
      const again = await finished((await client.createJob(job.request)).id);
      expect(again.request).toEqual(job.request);
      const main = ({ artifacts }: Job) => artifacts.find(({ variant }) => variant === 'image' || variant === 'video');
      expect(main(again)?.sha256).toBe(main(job)?.sha256);
      await client.deleteJob(again.id);
    }
    const measured = await client.plan(clip);
    expect(measured.seconds_basis).toBe('scaled');
    expect((await client.plan(picture)).seconds_basis).toBe('measured');

    const list = await client.jobs({ limit: 3 });
    checked(JobList, list);
    expect([list.data.map(({ id }) => id), list.total, list.has_more]).toEqual([
      made
        .slice(1)
        .map(({ id }) => id)
        .reverse(),
      4,
      true,
    ]);
    expect((await client.jobs({ after: list.last_id ?? '' })).data.map(({ id }) => id)).toEqual([made[0]?.id]);
    const found = async (query: Parameters<OrreryClient['jobs']>[0]) =>
      (await client.jobs({ order: 'asc', ...query })).data.map(({ id }) => made.findIndex((job) => job.id === id));
    expect(await found({ q: 'CUBE green' })).toEqual([1]);
    expect(await found({ task: 'transfer,image-to-video' })).toEqual([2, 3]);
    expect(await found({ kind: 'image', status: 'completed' })).toEqual([0, 1]);
    expect(await found({ status: 'failed' })).toEqual([]);
    expect(await found({ created_after: 1, created_before: 2 })).toEqual([]);
    for (const query of [{ task: 'dance' }, { status: 'lost' }, { limit: 201 }, { order: 'up' }]) {
      const search = new URLSearchParams(
        Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
      );
      const answer = await fetchPath(`/v1/jobs?${search}`, { headers: { authorization: 'Bearer first' } });
      expect(await readFailure(answer)).toMatchObject({ status: 400, param: Object.keys(query)[0] });
    }
  });

  test('are cancelled and deleted', async () => {
    const job = await client.createJob({ ...clip, num_inference_steps: 200, size: '128x128' });
    expect((await client.cancelJob(job.id)).status).toBe('cancelled');
    expect(await client.deleteJob(job.id)).toEqual({ id: job.id, object: 'job.deleted', deleted: true });
    await expect(client.job(job.id)).rejects.toMatchObject({ status: 404, reason: 'not_found' });
    await expect(client.deleteJob('job_x')).rejects.toMatchObject({ status: 404 });
  });

  test('pictures that a caller waited for are among them, unless it said otherwise', async () => {
    const before = (await client.jobs()).total;
    const image = { ...quick, prompt: 'A yellow lamp.' };
    const kept = await client.createImage(image);
    await client.createImage({ ...image, store: false });
    const [job, ...others] = (await client.jobs({ q: 'lamp' })).data;
    expect(others).toEqual([]);
    expect(job).toMatchObject({ kind: 'image', status: 'completed', task: 'text-to-image' });
    expect(job?.thumbnail_url).not.toBeNull();
    expect((await client.jobs()).total).toBe(before + 1);
    const bytes = Buffer.from(await (await client.jobContent(job?.id ?? '', 'image')).arrayBuffer());
    expect(bytes.toString('base64')).toBe(kept.data[0]?.b64_json);
  });
});

test('uploads that are none are refused', async () => {
  await expect(client.upload(new Blob(['no picture']))).rejects.toMatchObject({ status: 400, param: 'file' });
  const answer = await postJson(`${server.url}/v1/uploads`, {}, { authorization: 'Bearer first' });
  expect(await readFailure(answer)).toMatchObject({ status: 400, param: 'file' });
});

test('the status door shows device, queue, speed and failures', async () => {
  await expect(client.createJob({ ...clip, size: 'x' })).rejects.toMatchObject({ status: 400 });
  const status = await client.status();
  checked(ServerStatus, status);
  expect(status.devices).toMatchObject([{ device: 'cpu', status: 'idle', job_id: null, restarts: 0 }]);
  expect(status.devices[0]?.name).not.toBe('');
  expect(status.devices[0]?.resident_bytes).toBeGreaterThan(1e6);
  expect(status.devices[0]?.memory_total_bytes).toBe(status.host.memory_total_bytes);
  expect(status.host.disk_free_bytes).toBeGreaterThan(0);
  expect(status.queue).toMatchObject({ queued: 0, in_progress: 0, failed: 0 });
  expect(status.ended.completed).toBeGreaterThan(5);
  expect(status.steps_per_second['text-to-image']).toBeGreaterThan(0);
  expect(status.phase_seconds.denoise?.count).toBeGreaterThan(5);
  expect(status.refusals.invalid_value).toBeGreaterThan(0);
  expect((await fetchPath('/v1/status')).status).toBe(401);
  expect((await fetchPath('/')).status).toBe(200);
});

test('the doors are documented', async () => {
  const document: { paths: Record<string, object> } = await readJson(await fetchPath('/openapi.json'));
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining([
      '/v1/jobs',
      '/v1/jobs/{id}',
      '/v1/jobs/{id}/cancel',
      '/v1/jobs/{id}/content',
      '/v1/jobs/{id}/inputs/{role}',
      '/v1/jobs/{id}/plan',
      '/v1/jobs/{id}/events',
      '/v1/uploads',
      '/v1/plan',
      '/v1/status',
    ]),
  );
});

test('control maps that the server makes are files of the job, at addresses of their own', {
  timeout: 60_000,
}, async () => {
  const kept = () => readdirSync(join(server.folder, 'store', 'artifacts')).sort();
  const before = kept();
  const source = await finished((await client.createJob(clip)).id);
  const { file_id } = await client.upload(await client.jobContent(source.id));
  const extra_params = { task: 'transfer', edge: true, blur: true, num_video_frames_per_chunk: 5 };
  const { id } = await client.createJob({ ...clip, video_reference: { file_id }, extra_params });
  const job = await finished(id);
  checked(Job, job);
  const controls = job.artifacts.filter(({ variant }) => variant.startsWith('control_'));
  expect(controls.map(({ variant, media_type }) => `${variant} ${media_type}`)).toEqual([
    'control_blur video/mp4',
    'control_edge video/mp4',
  ]);
  for (const { variant, url, bytes, sha256 } of controls) {
    expect(url).toMatch(new RegExp(`^/v1/jobs/${id}/content\\?variant=${variant}&token=`));
    const answer = await fetchPath(url);
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${id}_${variant}.mp4"`);
    const body = Buffer.from(await answer.arrayBuffer());
    expect([answer.status, body.length, createHash('sha256').update(body).digest('hex')]).toEqual([200, bytes, sha256]);
    // The same file by the other route, in part, for whoever has a key.
    const path = `/v1/videos/${id}/content?variant=${variant}`;
    expect((await fetchPath(path)).status).toBe(401);
    const headers = { authorization: 'Bearer first', range: 'bytes=4-7' };
    const part = await fetchPath(path, { headers });
    expect([part.status, await part.text()]).toEqual([206, 'ftyp']);
  }
  for (const done of [source.id, id]) await client.deleteJob(done);
  expect((await fetchPath(controls[0]?.url ?? '')).status).toBe(404);
  expect(kept()).toEqual(before);
});
