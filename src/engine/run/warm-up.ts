// Runs a step of a shape before the first request of it comes: kernels are compiled and chosen, steps recorded, the usual
// negative prompt is read.
import type { RgbClip } from '../../media/index.js';
import type { CheckpointFacts, InputFacts } from '../../pipeline/facts.js';
import { generate } from '../../pipeline/generate.js';
import type { PlanInputs } from '../../pipeline/inputs.js';
import type { Networks } from '../../pipeline/networks.js';
import { plan as makePlan } from '../../pipeline/plan.js';
import type { GenerationRequest } from '../../pipeline/request.js';
import type { RunCaches } from '../../pipeline/run-caches.js';
import { nearestName, RequestError } from '../../protocol/index.js';

/** Tasks that a warm-up can run: those whose inputs it can make. */
export const warmUpTasks = ['text-to-image', 'text-to-video', 'image-to-video', 'video-to-video'] as const;
type WarmUpTask = (typeof warmUpTasks)[number];

/** A shape of requests. */
export interface WarmUpShape {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly task: WarmUpTask;
}

/**
 * Reads `WIDTHxHEIGHT`, `WIDTHxHEIGHTxFRAMES` or either with `:task`. Without frames it is a picture.
 * @throws RequestError naming what does not fit
 */
export function readWarmUpShape(text: string): WarmUpShape {
  const found = /^(\d+)x(\d+)(?:x(\d+))?(?::([a-z-]+))?$/i.exec(text.trim());
  if (!found)
    throw new RequestError(
      'invalid_value',
      'warmup',
      `warmup must be shapes as 1024x1024, 832x480x49 or 832x480x49:image-to-video, got ${text}`,
    );
  const [width = 0, height = 0, frames = 1] = found.slice(1, 4).flatMap((part) => (part ? [Number(part)] : []));
  const name = found[4]?.toLowerCase() ?? (frames === 1 ? 'text-to-image' : 'text-to-video');
  const task = warmUpTasks.find((known) => known === name);
  if (task === undefined) {
    const nearest = nearestName(name, warmUpTasks);
    throw new RequestError(
      'invalid_value',
      'warmup',
      `warmup ${text}: ${name} cannot be warmed up${nearest ? ` (did you mean ${nearest}?)` : ''}; tasks are ${warmUpTasks.join(', ')}`,
    );
  }
  if ((task === 'text-to-image') !== (frames === 1))
    throw new RequestError(
      'invalid_value',
      'warmup',
      task === 'text-to-image'
        ? `warmup ${text}: a picture has one frame; leave the frames out`
        : `warmup ${text}: a clip needs frames, as ${width}x${height}x49:${task}`,
    );
  return { width, height, frames, task };
}

export interface WarmUpParts {
  readonly facts: CheckpointFacts;
  readonly networks: Networks;
  readonly caches: RunCaches;
  readonly signal?: AbortSignal | undefined;
}

/** Runs one step of a shape at the checkpoint's defaults, and decodes it. @throws RequestError for a size that it cannot make */
export async function warmUp(shape: WarmUpShape, { facts, networks, caches, signal }: WarmUpParts): Promise<void> {
  const { width, height, frames, task } = shape;
  const clip = greyClip(width, height, task === 'image-to-video' ? 1 : frames);
  const source = { kind: 'frames', clip } as const;
  const image = task === 'image-to-video' ? clip : null;
  const video = task === 'video-to-video' ? clip : null;
  const request: GenerationRequest = {
    task,
    prompt: 'A grey wall.',
    width,
    height,
    frames,
    ...(image && { image: source }),
    ...(video && { video: source }),
  };
  const { plan } = makePlan(request, {
    checkpoint: facts,
    image: image && factsOf(image),
    video: video && factsOf(video),
    hints: [],
    randomSeed: 0,
  });
  const inputs: PlanInputs = { image, video, controls: new Map() };
  const options = { caches, isWarmUp: true, ...(signal && { signal }) };
  for await (const event of generate(plan, networks, inputs, options)) void event;
}

function greyClip(width: number, height: number, frames: number): RgbClip {
  return { width, height, frames, fps: 24, data: new Uint8Array(width * height * frames * 3).fill(127) };
}

function factsOf({ width, height, frames }: RgbClip): InputFacts {
  return { sha256: '', width, height, frames, fps: 24 };
}
