// The package's own worker on a tiny checkpoint: a picture and a controlled clip through queue, worker process and store.
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { JobEngine } from '../../src/engine/jobs/open-job-engine.js';
import { openJobEngine } from '../../src/engine/jobs/open-job-engine.js';
import type { JobRecord, NewJob } from '../../src/engine/jobs/types.js';
import { blurControl, decodeVideo, edgeControl, encodeVideo, type RgbClip } from '../../src/media/index.js';
import { planHash } from '../../src/pipeline/plan/plan-hash.js';
import { fastLimits, temporaryFolder, waitForEnd } from './fake-jobs.js';

const model = fileURLToPath(new URL('../golden/data/tiny-nano', import.meta.url));

function picture(fields: NewJob['request']['fields'], more: Partial<NewJob> = {}): NewJob {
  return {
    owner: 'tester',
    kind: 'image',
    requestId: 'r',
    request: { fields: { task: 'text-to-image', prompt: 'A cat.', size: '32x32', ...fields }, extra: {}, inputs: [] },
    plan: null,
    outputs: [
      { variant: 'image', kind: 'png' },
      { variant: 'thumbnail', kind: 'webp' },
      { variant: 'latents', kind: 'safetensors' },
    ],
    ...more,
  };
}

test('a picture is made, recorded with its plan, and made again byte for byte', { timeout: 60_000 }, async () => {
  using folder = temporaryFolder();
  const engine = await openJobEngine({
    folder: folder.path,
    devices: [{ device: 'cpu', options: { model, threads: 1 } }],
    limits: { ...fastLimits, beatMs: 500, progressMs: 60_000 },
  });
  engine.supervisor.start();
  try {
    await engine.supervisor.ready();
    const first = await run(engine, picture({ num_inference_steps: 2 }));
    expect(first.error).toBeNull();
    expect(first.artifacts.map(({ variant, mediaType }) => `${variant} ${mediaType}`).sort()).toEqual([
      'image image/png',
      'latents application/octet-stream',
      'thumbnail image/webp',
    ]);
    expect(first.result).toMatchObject({ width: 32, height: 32, frames: 1, task: 'text-to-image', warnings: [] });
    const { phases } = first.timings ?? {};
    expect(Object.keys(phases ?? {}).sort()).toEqual(['decode', 'denoise', 'encode', 'load', 'text', 'write']);

    // Nothing in the request says the seed; the plan does, and a job that runs from it gives the same bytes.
    const plan = await engine.queue.plan(first.id);
    if (!plan) throw new Error('no plan was recorded');
    expect(plan.seed).toBe(first.result?.seed);
    const second = await run(engine, picture({ num_inference_steps: 2 }, { plan }));
    const again = await engine.queue.plan(second.id);
    expect(again && planHash(again)).toBe(planHash(plan));
    expect(hashes(second)).toEqual(hashes(first));
    const [file] = first.artifacts.flatMap(({ variant, file }) => (variant === 'image' ? file : []));
    expect((await text(await engine.artifacts.read(file ?? '', { start: 1, end: 3 }))).slice(0, 3)).toBe('PNG');

    const refused = await run(engine, picture({ num_inference_steps: 2, guidance_scale: -4 }));
    expect(refused.error).toMatchObject({ code: 'invalid_value', param: 'guidance_scale', crashes: [] });
    expect(engine.supervisor.workers[0]).toMatchObject({ restarts: 0 });
    expect(engine.check()).toEqual([]);
  } finally {
    await engine.close();
  }
});

test('the control maps of a clip are made, kept beside the result, and deleted with it', {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const engine = await openJobEngine({
    folder: folder.path,
    devices: [{ device: 'cpu', options: { model, threads: 1 } }],
    limits: { ...fastLimits, beatMs: 500, progressMs: 60_000 },
  });
  engine.supervisor.start();
  try {
    await engine.supervisor.ready();
    const path = join(folder.path, 'stripes.mp4');
    await encodeVideo({ path, width: side, height: side, fps: 8, frames: movingStripes(9) });
    const input = await decodeVideo(path, {});
    const { sha256 } = await engine.uploads.keep(path, 'video/mp4');
    const record = await run(engine, {
      owner: 'tester',
      kind: 'video',
      requestId: 'r',
      request: {
        fields: { prompt: 'Stripes.', num_inference_steps: 1 },
        extra: { task: 'transfer', edge: true, blur: true, resolution: '256', num_video_frames_per_chunk: 5 },
        inputs: [{ role: 'video', sha256 }],
      },
      plan: null,
      outputs: [
        { variant: 'video', kind: 'mp4' },
        { variant: 'control_edge', kind: 'mp4' },
        { variant: 'control_blur', kind: 'mp4' },
        { variant: 'thumbnail', kind: 'webp' },
      ],
    });
    expect(record.error).toBeNull();
    const files = new Map(record.artifacts.map(({ variant, file }) => [variant, join(folder.path, 'artifacts', file)]));
    expect([...files.keys()]).toEqual(['control_blur', 'control_edge', 'thumbnail', 'video']);
    const [result, edge, blur] = await Promise.all(
      (['video', 'control_edge', 'control_blur'] as const).map((name) => decodeVideo(files.get(name) ?? '', {})),
    );
    if (!result || !edge || !blur) throw new Error('not all clips are there');
    for (const map of [result, edge, blur]) expect(map).toMatchObject({ width: side, height: side, frames: 9, fps: 8 });
    // Two chunks, put together without the frames that they share; what the encoder loses is far from an edge's height.
    const [edges, blurred] = [await edgeControl(input, 'medium'), await blurControl(input, 'medium')];
    expect(shareBeyond(edge, edges, 100)).toBeLessThan(0.01);
    expect(shareBeyond(blur, blurred, 30)).toBeLessThan(0.01);
    expect(shareBeyond(edge, blurred, 100)).toBeGreaterThan(0.2);
    expect(engine.check()).toEqual([]);
    const removed = await engine.queue.delete(record.id);
    expect(removed).toHaveLength(4);
    if (typeof removed !== 'string') await engine.artifacts.delete(removed);
    expect(engine.check()).toEqual([]);
    expect(await engine.artifacts.list()).toEqual([]);
  } finally {
    await engine.close();
  }
});

/** Of the smallest square canvas of a transfer, so that the clip is taken as it is. */
const side = 256;

/** White stripes on black, two pixels further in each frame. */
async function* movingStripes(count: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) {
    const data = new Uint8Array(side * side * 3);
    for (let at = 0; at < side * side; at++)
      if (((at % side) - 2 * i + side) % 32 < 16) data.fill(255, 3 * at, 3 * at + 3);
    yield data;
  }
}

/** Share of the values of two clips of one size that differ by more than `limit`. */
function shareBeyond(found: RgbClip, expected: RgbClip, limit: number): number {
  expect(found.data.length).toBe(expected.data.length);
  return (
    found.data.reduce((sum, value, i) => sum + Number(Math.abs(value - (expected.data[i] ?? 0)) > limit), 0) /
    found.data.length
  );
}

async function run(engine: JobEngine, job: NewJob): Promise<JobRecord> {
  return waitForEnd(engine, (await engine.queue.enqueue(job)).record.id, 50_000);
}

function hashes({ artifacts }: JobRecord): string[] {
  return artifacts.map(({ variant, sha256 }) => `${variant} ${sha256}`);
}
