// Shows some frames of each result to a guard model. A result that it refuses, or cannot judge, is not kept.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../engine/jobs/types.js';
import { packageRoot } from '../../engine/package-info.js';
import { describeDecision, type Guard, openGuard } from '../../engine/safety/guard.js';
import type { JobRunner, OpenRunner, ProducedFile, WorkerJob } from '../../engine/worker/job-runner.js';
import { decodeFrames, encodeImage, probeVideo, type RgbImage } from '../../media/index.js';
import type { GuardSettings } from '../options/settings.js';

/** Frames of a clip that are shown, from the first to the last. */
const shownFrames = 6;

/** The built entry of a guarded device process. */
export function guardedWorkerEntry(): string {
  const beside = fileURLToPath(new URL('./guarded-worker.js', import.meta.url));
  return existsSync(beside) ? beside : join(packageRoot(), 'dist/server/guard/guarded-worker.js');
}

/** What the device process needs to know of the guard; under `guard` in its options. */
export function frameGuardOptions({ framesUrl, model, key, timeoutSeconds }: GuardSettings): JsonObject {
  return { guard: { framesUrl, model, key, timeoutSeconds } };
}

/** A runner whose results pass the guard that its options name. */
export function guardResults(open: OpenRunner): OpenRunner {
  return async (device, { guard: settings, ...options }) => {
    const guard = openGuard(readSettings(settings), false);
    const runner = await open(device, options);
    return {
      ...(runner.device === undefined ? {} : { device: runner.device }),
      run: async (job, context) => {
        const result = await runner.run(job, context);
        if (asksForChecks(job)) await checkFiles(guard, job, result.files, context.signal);
        return result;
      },
      [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose](),
    } satisfies JobRunner;
  };
}

function readSettings(value: unknown): Parameters<typeof openGuard>[0] {
  const { framesUrl, model, key, timeoutSeconds } =
    typeof value === 'object' && value !== null ? { ...emptySettings, ...value } : emptySettings;
  return {
    isEnabled: true,
    framesUrl,
    model,
    key,
    timeoutMs: timeoutSeconds * 1000,
    onDecision: (decision) => console.error(JSON.stringify(describeDecision(decision))),
  };
}

const emptySettings: Pick<GuardSettings, 'framesUrl' | 'model' | 'key' | 'timeoutSeconds'> = {
  framesUrl: null,
  model: null,
  key: null,
  timeoutSeconds: 20,
};

/** A request turns its checks off by `guardrails: false`, in one of the spellings of a form. */
function asksForChecks({ request: { fields, extra } }: WorkerJob): boolean {
  const wanted = extra.guardrails ?? fields.guardrails;
  return !(wanted === false || (typeof wanted === 'string' && /^(0|false|no|off)$/i.test(wanted)));
}

async function checkFiles(
  guard: Guard,
  { folder }: WorkerJob,
  files: readonly ProducedFile[],
  signal: AbortSignal,
): Promise<void> {
  for (const { name, variant, mediaType } of files) {
    const path = join(folder, name);
    if (variant === 'image') await guard.checkFrames([{ bytes: await readFile(path), mediaType }], signal);
    if (variant !== 'video') continue;
    const pictures = [];
    for (const frame of await sampleClip(path)) {
      pictures.push({ bytes: await encodeImage(frame, { format: 'jpeg' }), mediaType: 'image/jpeg' });
    }
    await guard.checkFrames(pictures, signal);
  }
}

/** Frames spread evenly over a clip. */
async function sampleClip(path: string): Promise<readonly RgbImage[]> {
  const { frames: count } = await probeVideo(path);
  const last = Math.max(0, (count ?? 1) - 1);
  const wanted = new Set(Array.from({ length: shownFrames }, (_, i) => Math.round((i * last) / (shownFrames - 1))));
  const sample: RgbImage[] = [];
  let index = 0;
  for await (const frame of decodeFrames(path)) if (wanted.has(index++)) sample.push(frame);
  return sample;
}
