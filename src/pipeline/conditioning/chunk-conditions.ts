// What one chunk is conditioned on: its picture or clip, its control maps, and the end of the chunk before it.
import { type Tensor, uploadFloats } from '../../backend/index.js';
import { blurControl, edgeControl, type RgbClip } from '../../media/index.js';

import type { Recorder } from '../denoise/recorder.js';
import { channelsFirst } from '../denoise/targets.js';
import type { PlanInputs } from '../inputs.js';
import type { Networks } from '../networks.js';
import type { Plan, PlannedHint, PlannedTransfer, Size } from '../plan-types.js';
import { type ComputedKind, isComputedKind } from '../request.js';
import { type Chunk, chunkFrameIndexes } from './chunks.js';
import type { ChunkConditions } from './conditioning.js';
import {
  encodeCondition,
  encodePixels,
  fitControl,
  fitFrames,
  type HostLatents,
  uploadPixels,
} from './vision-source.js';

/** Frames in [-1, 1], host float32 `[count, H, W, 3]`. */
export interface PixelFrames {
  readonly count: number;
  readonly values: Float32Array;
}

/** Encoded conditions, and the RGB panels shown beside the result: each `[frames, H, W, 3]` of the canvas. */
export interface PreparedChunk {
  readonly conditions: ChunkConditions;
  readonly panels: readonly Uint8Array[];
  /** Control maps that were made from the input clip: `[frames, H, W, 3]` of the canvas. */
  readonly computed: readonly ComputedMap[];
}

/** A control map of one chunk. */
export interface ComputedMap {
  readonly kind: ComputedKind;
  readonly data: Uint8Array;
}

export interface ChunkContext {
  readonly chunk: Chunk;
  readonly inputs: PlanInputs;
  /** The last frames of the chunk before, as many as the plan overlaps. */
  readonly tail: PixelFrames | null;
  readonly recorder: Recorder | null;
}

export async function prepareChunk(networks: Networks, plan: Plan, context: ChunkContext): Promise<PreparedChunk> {
  const { chunk, inputs, recorder } = context;
  const { temporalFactor } = networks.vae.config;
  const latentFrames = (chunk.frames - 1) / temporalFactor + 1;
  const note = recordEncodings(recorder, chunk.index);
  if (!plan.transfer) {
    const { condition } = plan;
    if (!condition) return { conditions: { latentFrames, clean: null, controls: [] }, panels: [], computed: [] };
    const latents = note(await encodeCondition(networks, plan, condition, inputs));
    return {
      conditions: { latentFrames, clean: { latents, frames: condition.latentFrames }, controls: [] },
      panels: [],
      computed: [],
    };
  }
  const maps: Uint8Array[] = [];
  const computed: ComputedMap[] = [];
  const controls: HostLatents[] = [];
  for (const hint of plan.transfer.hints) {
    const rgb = await controlFrames(hint, plan, context);
    maps.push(rgb);
    if (hint.computed && isComputedKind(hint.kind)) computed.push({ kind: hint.kind, data: rgb });
    controls.push(
      note(await encodePixels(networks, () => uploadPixels(networks.backend, rgb, chunk.frames, plan.canvas))),
    );
  }
  const clean = await overlapConditions(networks, plan.canvas, overlapPixels(plan, plan.transfer, context));
  if (clean) note(clean.latents);
  const panels = panelsOf(plan.transfer, plan, context, maps);
  return { conditions: { latentFrames, clean, controls }, panels, computed };
}

async function controlFrames(hint: PlannedHint, plan: Plan, { chunk, inputs }: ChunkContext): Promise<Uint8Array> {
  const clip = hint.computed ? inputs.video : inputs.controls.get(hint.kind);
  if (!clip) throw new Error(`the plan has the hint ${hint.kind}, but nothing was loaded for it`);
  const rgb = sourceFrames(clip, chunk, plan.canvas);
  if (!hint.computed) return rgb;
  const fitted: RgbClip = { ...plan.canvas, frames: chunk.frames, fps: clip.fps, data: rgb };
  const map = hint.kind === 'edge' ? await edgeControl(fitted, hint.preset) : await blurControl(fitted, hint.preset);
  return map.data;
}

function sourceFrames(clip: RgbClip, chunk: Chunk, canvas: Size): Uint8Array {
  return fitFrames(clip, chunkFrameIndexes(chunk, clip.frames), canvas, fitControl);
}

function panelsOf(
  transfer: PlannedTransfer,
  plan: Plan,
  { chunk, inputs }: ChunkContext,
  maps: readonly Uint8Array[],
): Uint8Array[] {
  const input = transfer.showInput && inputs.video ? [sourceFrames(inputs.video, chunk, plan.canvas)] : [];
  return [...input, ...(transfer.showControlCondition ? maps : [])];
}

/** The given frames at the front of a chunk: the end of the one before, or the beginning of the input clip. */
function overlapPixels(
  plan: Plan,
  transfer: PlannedTransfer,
  { chunk, inputs, tail }: ChunkContext,
): PixelFrames | null {
  if (chunk.index > 0) return tail;
  const count = transfer.firstChunkConditionalFrames;
  if (count === 0 || !inputs.video) return null;
  const clip = inputs.video;
  const rgb = fitFrames(
    clip,
    Array.from({ length: count }, (_, i) => Math.min(i, clip.frames - 1)),
    plan.canvas,
    fitControl,
  );
  return { count, values: Float32Array.from(rgb, (value) => value / 127.5 - 1) };
}

/** Encodes as many whole latent frames as the given pixels cover; later frames cannot change them. */
async function overlapConditions(
  networks: Networks,
  { width, height }: Size,
  pixels: PixelFrames | null,
): Promise<ChunkConditions['clean']> {
  if (!pixels || pixels.count === 0) return null;
  const { temporalFactor } = networks.vae.config;
  const latentFrames = Math.floor((pixels.count - 1) / temporalFactor) + 1;
  const frames = (latentFrames - 1) * temporalFactor + 1;
  const values = pixels.values.subarray(0, frames * width * height * 3);
  const upload = (): Tensor => uploadFloats(networks.backend, values, [frames, height, width, 3]);
  return { latents: await encodePixels(networks, upload), frames: [...Array(latentFrames).keys()] };
}

function recordEncodings(recorder: Recorder | null, chunk: number): (latents: HostLatents) => HostLatents {
  let count = 0;
  return (latents) => {
    if (recorder) {
      const [t = 0, h = 0, w = 0, c = 0] = latents.shape;
      recorder.record(`${chunk}/encoded/${count++}`, [c, t, h, w], channelsFirst(latents.data, c));
    }
    return latents;
  };
}
