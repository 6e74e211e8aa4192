// A server's life: refusals at start-up, settings, draining, restarts that lose nothing, the same bytes afterwards.
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createClient, type VideoJob } from '../../src/protocol/index.js';
import { root } from '../architecture/source-tree.js';
import { runCli } from '../cli/run-cli.js';
import { postJson } from './requests.js';
import { startServer } from './start-server.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-life-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
cpSync(join(root, 'test/golden/data/tiny-nano'), join(folder, 'foreign'), { recursive: true });
const serve = (...args: string[]) => runCli(['serve', ...args], { cwd: folder });

describe('settings', { timeout: 60_000 }, () => {
  test('are shown with where they come from resolved', async () => {
    const file = join(folder, 'orrery.yaml');
    writeFileSync(file, 'port: 9000\nmax-queue: 5\nserved_model_name: [a, b]\napi-key: secret\n');
    const { stdout, code } = await runCli(
      ['serve', 'nvidia/Cosmos3-Nano', '--config', file, '--port', '9001', '--print-config'],
      { cwd: folder, env: { ORRERY_MAX_QUEUE: '7', ORRERY_HOST: '0.0.0.0' } },
    );
    expect(code).toBe(0);
    expect(stdout).toContain('port: 9001\n');
    expect(stdout).toContain('max-queue: 7\n');
    expect(stdout).toContain('host: 0.0.0.0\n');
    expect(stdout).toContain('model: nvidia/Cosmos3-Nano\n');
    expect(stdout).toContain('served-model-name:\n  - a\n  - b\n');
    expect(stdout).toContain('init-timeout: 600\n');
    expect(stdout).not.toContain('secret');
  });

  test.each([
    [['--prot', '1'], /unknown option '--prot' \(Did you mean --port\?\)/],
    [['--port', '70000'], /--port must be a whole number from 0 to 65535, got "70000"/],
    [['--tensor-parallel-size', '2'], /--tensor-parallel-size takes 1 only, got 2: one device serves a model so far/],
    [['--quantization', 'fp8'], /--quantization takes none only, got "fp8": the CPU device computes in/],
    [
      ['--enable-layerwise-offload'],
      /--enable-layerwise-offload is not available: weights of the CPU device are mapped files/,
    ],
    [['--dtype', 'bf16'], /--dtype takes f32 only, got "bf16": the CPU device computes in/],
    [['--fp8-attention'], /--fp8-attention is not available: the CPU device computes in/],
    [['--device', 'cuda', '--fp8-fast-accumulation'], /says nothing without FP8 products; add --quantization fp8/],
    [['--stage-overrides', '{"1":{}}'], /--stage-overrides: there is no stage 1/],
    [['--stage-overrides', '{'], /--stage-overrides is not valid JSON/],
    [['--api-key-file', 'none'], /--api-key-file none cannot be read/],
    [['--config', 'none.yaml'], /--config none\.yaml: ENOENT/],
    [['--device', 'gpu'], /device gpu is unknown/],
    [['--guardrail-url', 'nowhere'], /nowhere is no URL/],
    [['--model', join(folder, 'foreign')], /This checkpoint needs a guard model, and none is given\..*--no-guardrails/],
  ])('that cannot be are refused: %j', async (args, message) => {
    const { code, stderr } = await serve(...args, '--storage-path', join(folder, 'store-refused'));
    expect(stderr).toMatch(message);
    expect(code).toBeGreaterThan(0);
  });
});

const small = {
  prompt: 'A red ball.',
  size: '64x64',
  num_frames: 5,
  num_inference_steps: 2,
  guidance_scale: 1,
  seed: 5,
};

async function end(url: string, id: string): Promise<VideoJob> {
  const client = createClient({ baseUrl: url });
  for (;;) {
    const job = await client.video(id);
    if (!['queued', 'in_progress'].includes(job.status)) return job;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function md5(url: string, id: string): Promise<string> {
  const blob = await createClient({ baseUrl: url }).content(id);
  return createHash('md5')
    .update(Buffer.from(await blob.arrayBuffer()))
    .digest('hex');
}

test('jobs outlive SIGKILL, and results are the same bytes', { timeout: 120_000 }, async () => {
  const place = mkdirs(join(folder, 'kill'));
  const first = await startServer({ folder: place });
  const client = createClient({ baseUrl: first.url });
  const done = await client.createVideo(small);
  await end(first.url, done.id);
  const before = await md5(first.url, done.id);
  const running = await client.createVideo({ ...small, size: '128x128', num_frames: 17, num_inference_steps: 20 });
  const waiting = await client.createVideo({ ...small, seed: 6 });
  await first.stop('SIGKILL');

  await using second = await startServer({ folder: place });
  expect(await md5(second.url, done.id)).toBe(before);
  const ids = (await createClient({ baseUrl: second.url }).videos()).data.map(({ id }) => id);
  expect(ids).toEqual([waiting.id, running.id, done.id]);
  expect(await end(second.url, running.id)).toMatchObject({ status: 'completed' });
  expect(await end(second.url, waiting.id)).toMatchObject({ status: 'completed' });
  const again = await createClient({ baseUrl: second.url }).createVideo(small);
  await end(second.url, again.id);
  expect(await md5(second.url, again.id)).toBe(before);
});

test('SIGTERM lets the running job finish and keeps the others', { timeout: 120_000 }, async () => {
  const place = mkdirs(join(folder, 'drain'));
  const server = await startServer({ folder: place });
  const client = createClient({ baseUrl: server.url });
  const running = await client.createVideo({ ...small, size: '128x128', num_frames: 17, num_inference_steps: 20 });
  const waiting = await client.createVideo(small);
  while ((await client.video(running.id)).status === 'queued') await new Promise((resolve) => setTimeout(resolve, 20));
  // Who waits on the line behind it is told, and streams are closed.
  const stranded = postJson(`${server.url}/v1/videos/sync`, { ...small, num_inference_steps: 3 });
  const stream = await fetch(`${server.url}/v1/events`);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const code = server.stop();
  await new Promise((resolve) => setTimeout(resolve, 100));
  await expect(client.createVideo(small)).rejects.toMatchObject({ status: 503, reason: 'unavailable' });
  expect((await stranded).status).toBe(503);
  expect(await stream.text()).toContain(': hello');
  expect(await code).toBe(0);

  await using next = await startServer({ folder: place });
  expect(await createClient({ baseUrl: next.url }).video(running.id)).toMatchObject({
    status: 'completed',
    attempts: 1,
  });
  expect(await end(next.url, waiting.id)).toMatchObject({ status: 'completed' });
});

test('a full queue says when to come back', { timeout: 60_000 }, async () => {
  await using server = await startServer({ flags: ['--max-queue', '2', '--drain-timeout', '1'] });
  const send = () =>
    fetch(`${server.url}/v1/videos`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...small, size: '256x256', num_frames: 61, num_inference_steps: 50 }),
    });
  const replies: Response[] = [];
  for (let i = 0; i < 5; i++) replies.push(await send());
  const refused = replies.find(({ status }) => status === 429);
  expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  expect((await server.stop('SIGINT')) ?? 0).toBeLessThan(130);
});

test('parameters of the server are where requests start from', { timeout: 60_000 }, async () => {
  await using server = await startServer({
    flags: [
      '--default-sampling-params',
      '{"0":{"num_inference_steps":3,"size":"96x96","num_frames":5}}',
      '--flow-shift',
      '4',
      '--vae-use-tiling',
      '--guardrail-blocklist',
      blocklist(),
    ],
  });
  const client = createClient({ baseUrl: server.url });
  const { id } = await client.createVideo({ prompt: 'A ball.', seed: 1, return_stage_metrics: true });
  const job = await end(server.url, id);
  expect(job).toMatchObject({ status: 'completed', num_frames: 5, metrics: { attempts: 1 } });
  const text = Buffer.from(await (await client.content(id)).arrayBuffer()).toString('latin1');
  expect(text).toContain('"flowShift":4');
  expect(text).toContain('"steps":3');
  // What is said of the device arrives at the process that has it.
  expect(text).toMatch(/"device":"cpu[^"]*, tiled decoder"/);
  expect(text).toContain('"canvas":{"width":96,"height":96}');
  await expect(client.createVideo({ prompt: 'A gizmotron at work.' })).rejects.toMatchObject({
    reason: 'prompt_blocked',
  });
});

function blocklist(): string {
  const path = join(folder, 'words.txt');
  writeFileSync(path, 'gizmotron\n');
  return path;
}

function mkdirs(place: string): string {
  return mkdtempSync(`${place}-`);
}
