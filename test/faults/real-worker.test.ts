// The package's own worker on a tiny checkpoint: a picture through queue, worker process and store.
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { JobEngine } from '../../src/engine/jobs/open-job-engine.js';
import { openJobEngine } from '../../src/engine/jobs/open-job-engine.js';
import type { JobRecord, NewJob } from '../../src/engine/jobs/types.js';
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

async function run(engine: JobEngine, job: NewJob): Promise<JobRecord> {
  return waitForEnd(engine, (await engine.queue.enqueue(job)).record.id);
}

function hashes({ artifacts }: JobRecord): string[] {
  return artifacts.map(({ variant, sha256 }) => `${variant} ${sha256}`);
}
