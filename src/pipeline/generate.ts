// The whole flow from a plan to its result: text, conditions, noise, denoise, decode; chunk by chunk.

import { OutOfMemoryError, uploadFloats } from '../backend/index.js';
import type { Tiling } from '../models/wan-vae/index.js';
import { NoiseGenerator } from '../schedulers/index.js';
import { actionRows } from './conditioning/action-target.js';
import { type ComputedMap, type PixelFrames, prepareChunk } from './conditioning/chunk-conditions.js';
import { type Chunk, planChunks } from './conditioning/chunks.js';
import { buildConditioning } from './conditioning/conditioning.js';
import { holdPrompts } from './conditioning/text.js';
import { downloadFloats, type HostLatents } from './conditioning/vision-source.js';
import { decodeSound, decodeVision } from './decode/decode.js';
import { resultFrames } from './decode/output.js';
import { denoise } from './denoise/denoise.js';
import { recordStart, recordStep } from './denoise/record-step.js';
import type { Recorder } from './denoise/recorder.js';
import { makeSchedule, type Schedule } from './denoise/schedule.js';
import { skipTable } from './denoise/skip.js';
import { initialLatents, type Modality, type NoiseSource, passDraws, type Target } from './denoise/targets.js';
import type { GenerationEvent, Phase } from './events.js';
import type { PlanInputs } from './inputs.js';
import type { Networks } from './networks.js';
import type { Plan } from './plan-types.js';
import { ChunkPreviews, type Previewer } from './preview/previewer.js';
import { RunCaches } from './run-caches.js';

export interface GenerateOptions {
  /** Stops between steps and between decoded windows by throwing the signal's reason. */
  readonly signal?: AbortSignal;
  /** Also report final latents. */
  readonly latents?: boolean;
  /** Also report the control maps that are made from the input clip. */
  readonly controls?: boolean;
  /** Decode no frames. */
  readonly skipFrames?: boolean;
  /** Decode frames by tiles: less memory, slightly other pixels. */
  readonly tiling?: Tiling;
  readonly recorder?: Recorder;
  /** Reports small pictures on the way. */
  readonly previewer?: Previewer | undefined;
  /** Instead of the seed's generator. */
  readonly noise?: NoiseSource;
  /** Serves this run, and is filled by it for later ones; nothing outlives the run where absent. */
  readonly caches?: RunCaches | undefined;
  /** Runs one step of the plan, records the others, and decodes what that gives. */
  readonly isWarmUp?: boolean;
}

/**
 * Runs a plan. Events come in order; frames as they are decoded.
 * @throws the signal's reason when stopped; `OutOfMemoryError` where the device has no room
 */
export async function* generate(
  plan: Plan,
  networks: Networks,
  inputs: PlanInputs,
  options: GenerateOptions = {},
): AsyncGenerator<GenerationEvent, void> {
  using own = options.caches ? null : RunCaches.none();
  const caches = options.caches ?? (own as RunCaches);
  try {
    yield* runChunks(plan, networks, inputs, { ...options, caches });
  } catch (error) {
    // Whoever tries again, or something smaller, has all room.
    if (error instanceof OutOfMemoryError) caches.giveBack();
    throw error;
  }
}

async function* runChunks(
  plan: Plan,
  networks: Networks,
  inputs: PlanInputs,
  options: GenerateOptions & { readonly caches: RunCaches },
): AsyncGenerator<GenerationEvent, void> {
  const { caches } = options;
  const schedule = makeSchedule(plan);
  const noise = options.noise ?? new NoiseGenerator(plan.seed);
  const chunks = planChunks(plan, networks.vae.config.temporalFactor);
  const phase = (name: Phase, chunk: number): GenerationEvent => ({
    type: 'phase',
    phase: name,
    chunk,
    chunks: chunks.length,
  });
  options.signal?.throwIfAborted();
  yield phase('text', 0);
  using texts = holdPrompts(networks, plan, caches.texts);
  yield { type: 'text', ...texts.counts };
  let tail: PixelFrames | null = null;
  for (const chunk of chunks) {
    options.signal?.throwIfAborted();
    yield phase('encode', chunk.index);
    const recorder = options.recorder ?? null;
    const prepared = await prepareChunk(networks, plan, { chunk, inputs, tail, recorder });
    if (options.controls) yield* reportControls(plan, chunk, prepared.computed);
    yield phase('denoise', chunk.index);
    using conditioning = buildConditioning(networks, plan, prepared.conditions, texts, schedule.timesteps);
    const target = conditioning.targets[0] as Target;
    const of = { chunk, chunks: chunks.length, steps: schedule.table.steps, target };
    const previews = options.previewer ? new ChunkPreviews(options.previewer, of) : null;
    const run: ChunkRun = { plan, networks, options, caches, schedule, noise, previews, chunk, chunks: chunks.length };
    const latents = yield* denoiseChunk(run, conditioning);
    yield* reportLatents(run, conditioning.targets, latents);
    yield phase('decode', chunk.index);
    // Before the frames: who encodes them as they come needs their sound then.
    yield* reportSoundAndActions(run, conditioning.targets, latents);
    tail = yield* decodeChunk(run, latents[0] as HostLatents, prepared.panels);
  }
}

interface ChunkRun {
  readonly plan: Plan;
  readonly networks: Networks;
  readonly options: GenerateOptions;
  readonly caches: RunCaches;
  readonly schedule: Schedule;
  readonly noise: NoiseSource;
  readonly previews: ChunkPreviews | null;
  readonly chunk: Chunk;
  readonly chunks: number;
}

async function* denoiseChunk(
  run: ChunkRun,
  conditioning: ReturnType<typeof buildConditioning>,
): AsyncGenerator<GenerationEvent, HostLatents[]> {
  const { plan, networks, options, caches, schedule, noise, chunk, chunks } = run;
  const { targets } = conditioning;
  passDraws(targets, noise, plan.draw * (1 + (schedule.table.stochastic ? schedule.table.steps : 0)));
  const latents = initialLatents(targets, noise);
  if (options.recorder) recordStart(options.recorder, chunk.index, conditioning, latents);
  const input = {
    conditions: conditioning,
    schedule,
    latents,
    guidance: plan.guidance,
    skip: skipTable(plan.skip, schedule.sigmas, schedule.table.steps),
    skipMode: plan.skip.mode,
    reuse: plan.reuse,
    noise,
    keepBranchVelocities: options.recorder !== undefined,
    isWarmUp: options.isWarmUp ?? false,
  };
  const { steps } = schedule.table;
  for await (const done of denoise(networks, input, caches.sessions)) {
    if (options.recorder) await recordStep(networks.backend, options.recorder, { chunk: chunk.index, targets, done });
    const { skipped, passes } = done;
    yield { type: 'step', step: done.step + 1, steps, chunk: chunk.index, chunks, skipped, passes };
    const preview = await run.previews?.ofStep(done);
    if (preview) yield preview;
    options.signal?.throwIfAborted();
    if (done.isLast) return await Promise.all(done.samples.map((sample) => downloadFloats(networks.backend, sample)));
  }
  throw new Error(`the denoise loop ended before step ${steps}`);
}

async function* decodeChunk(
  run: ChunkRun,
  latents: HostLatents,
  panels: readonly Uint8Array[],
): AsyncGenerator<GenerationEvent, PixelFrames | null> {
  const { plan, networks, options, chunk, chunks } = run;
  if (options.skipFrames || plan.action?.decodeVideo === false) return null;
  const overlap = chunk.index + 1 < chunks ? (plan.transfer?.conditionalFrames ?? 0) : 0;
  const tail = new TailFrames(chunk.frames, overlap);
  const tensor = uploadFloats(networks.backend, latents.data, latents.shape);
  try {
    let first = 0;
    for await (const window of decodeVision(networks, tensor, { tiling: options.tiling })) {
      options.signal?.throwIfAborted();
      if (tail.wants(first, window.count))
        tail.take(first, (await downloadFloats(networks.backend, window.pixels)).data, window.count);
      const part = resultFrames(chunk, { ...window, first }, panels);
      const preview = run.previews?.ofFrames(first, window);
      if (preview) yield preview;
      first += window.count;
      if (part) yield { type: 'frames', data: part.data, count: part.count, width: part.width, height: part.height };
    }
  } finally {
    tensor[Symbol.dispose]();
  }
  return tail.frames();
}

/** Collects the last frames of a chunk, clamped to [-1, 1]. */
class TailFrames {
  #parts: Float32Array[] = [];

  constructor(
    private readonly total: number,
    private readonly count: number,
  ) {}

  wants(first: number, count: number): boolean {
    return first + count > this.total - this.count;
  }

  take(first: number, values: Float32Array, count: number): void {
    const perFrame = values.length / count;
    const skip = Math.max(0, this.total - this.count - first);
    this.#parts.push(values.subarray(skip * perFrame).map((value) => Math.min(1, Math.max(-1, value))));
  }

  frames(): PixelFrames | null {
    if (this.count === 0) return null;
    const length = this.#parts.reduce((sum, part) => sum + part.length, 0);
    const values = new Float32Array(length);
    let at = 0;
    for (const part of this.#parts) {
      values.set(part, at);
      at += part.length;
    }
    return { count: this.count, values };
  }
}

/** The part of each computed map that lies beside this chunk's part of the result. */
function* reportControls(
  { canvas }: Plan,
  { overlap, adds }: Chunk,
  maps: readonly ComputedMap[],
): Generator<GenerationEvent> {
  const size = canvas.width * canvas.height * 3;
  for (const { kind, data } of maps) {
    const shown = data.subarray(overlap * size, (overlap + adds) * size);
    yield { type: 'control', kind, data: shown, count: adds, ...canvas };
  }
}

function* reportLatents(
  { options, chunk }: ChunkRun,
  targets: readonly Target[],
  latents: readonly HostLatents[],
): Generator<GenerationEvent> {
  if (!options.latents) return;
  for (const [i, { item }] of targets.entries()) {
    const { shape, data } = latents[i] as HostLatents;
    yield { type: 'latents', modality: item.kind, shape, data, chunk: chunk.index };
  }
}

async function* reportSoundAndActions(
  { plan, networks }: ChunkRun,
  targets: readonly Target[],
  latents: readonly HostLatents[],
): AsyncGenerator<GenerationEvent> {
  const find = (kind: Modality) => latents[targets.findIndex(({ item }) => item.kind === kind)];
  const sound = find('sound');
  if (plan.sound && sound) {
    const tensor = uploadFloats(networks.backend, sound.data, sound.shape);
    try {
      yield { type: 'sound', waveform: await decodeSound(networks, tensor, plan.sound) };
    } finally {
      tensor[Symbol.dispose]();
    }
  }
  const action = find('action');
  if (plan.action && action)
    yield { type: 'actions', rows: actionRows(plan.action, action.data, action.shape[1] ?? 0) };
}
