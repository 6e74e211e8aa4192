// Transfer: control maps, their presets, chunks and lengths. Source: api spec, 3.2.
import { severalHints, type TransferPreset, transferMaxFrames, transferPresets } from '../defaults.js';
import type { Facts, InputFacts, TaskDefaults } from '../facts.js';
import type { PlannedHint, PlannedTransfer, Size } from '../plan-types.js';
import type { GenerationRequest, TransferRequest } from '../request.js';
import { frameLimit, givenFrames, planFps, wholeFrames } from './clip.js';
import { finiteNumber, orderedInterval, refuse, type Warn, wholeNumber } from './ranges.js';
import { type ControlGuidance, guidanceLimit } from './sampling/sampling.js';
import { bucketedSize, checkSize } from './sizes.js';
import { type Hint, normaliseWeights, orderHints, planHint } from './transfer-hints.js';

/** What transfer settles differently from other tasks. */
export interface TransferPlan {
  readonly transfer: PlannedTransfer;
  readonly canvas: Size;
  readonly fps: number;
  readonly control: ControlGuidance;
  /** The task's defaults with the guidance of the preset. */
  readonly defaults: TaskDefaults;
  /** Given control maps, in the plan's order. */
  readonly controls: readonly InputFacts[];
}

/**
 * Settles a transfer. A single hint brings its preset, which fills only what neither request nor checkpoint states.
 * @throws RequestError for impossible hints, weights, lengths or intervals
 */
export function planTransfer(
  request: GenerationRequest,
  facts: Facts,
  defaults: TaskDefaults,
  warn: Warn,
): TransferPlan {
  const asked = request.transfer ?? { hints: [] };
  const hints = orderHints(asked.hints, facts.hints);
  const weights = normaliseWeights(hints);
  const planned = hints.map(
    (hint, i): PlannedHint => planHint(hint, { weight: weights[i] ?? 0, hasVideo: facts.video !== null }, warn),
  );
  const only = hints.length === 1 ? hints[0] : undefined;
  const preset = only ? transferPresets[only.kind] : severalHints;
  const stated = facts.checkpoint.defaults.transfer ?? {};
  const guidance = stated.guidance ?? preset.guidance;
  const fps = transferFps(
    request,
    { preset, isWsm: only?.kind === 'wsm', defaults, stated: stated.fps },
    facts.video,
    warn,
  );
  const { conditionSource, frames } = firstControl(hints, facts.video);
  const chunkDefault = stated.frames ?? preset.chunkFrames;
  return {
    transfer: {
      hints: planned,
      attention: asked.attention ?? 'weighted',
      ...planLengths(request, asked, { frames, fps, preset, chunkDefault }, facts),
      showControlCondition: asked.showControlCondition ?? false,
      showInput: showsInput(asked, facts.video !== null, warn),
      shareTemporalPositions: asked.shareTemporalPositions ?? true,
    },
    canvas: transferCanvas(
      request,
      defaults,
      { source: conditionSource, unit: facts.checkpoint.spatialCompression },
      warn,
    ),
    fps,
    control: controlGuidance(asked, preset),
    defaults: { ...defaults, guidance },
    controls: hints.flatMap((hint) => hint.facts ?? []),
  };
}

/** The first control decides the length; its shape is that of the canvas where there is no input video. */
function firstControl(hints: readonly Hint[], video: InputFacts | null): { conditionSource: Size; frames: number } {
  const first = hints[0]?.facts ?? video;
  if (!first) return refuse('missing_parameter', 'video', 'transfer needs a control map or a video; give one');
  return { conditionSource: video ?? first, frames: Math.max(1, first.frames) };
}

interface FpsDefaults {
  readonly preset: TransferPreset;
  readonly isWsm: boolean;
  readonly defaults: TaskDefaults;
  readonly stated: number | undefined;
}

/** World scenario maps have their own fps; every other transfer keeps that of the input video. */
function transferFps(
  request: GenerationRequest,
  { preset, isWsm, defaults, stated }: FpsDefaults,
  video: InputFacts | null,
  warn: Warn,
): number {
  const asked = request.fps === undefined ? undefined : planFps(request.fps);
  const carried = video?.fps != null && video.fps >= 1 && video.fps <= 1000 ? video.fps : undefined;
  if (isWsm) return asked ?? stated ?? preset.fps ?? carried ?? defaults.fps;
  if (carried !== undefined && asked !== undefined && asked !== carried)
    warn('fps', `fps ${asked} is ignored: transfer keeps the ${carried} fps of the input video`);
  return carried ?? asked ?? planFps(defaults.fps);
}

interface LengthDefaults {
  readonly frames: number;
  readonly fps: number;
  readonly preset: TransferPreset;
  readonly chunkDefault: number;
}

type Lengths = Pick<
  PlannedTransfer,
  'chunkFrames' | 'totalFrames' | 'conditionalFrames' | 'firstChunkConditionalFrames'
>;

function planLengths(
  request: GenerationRequest,
  asked: TransferRequest,
  { frames, fps, preset, chunkDefault }: LengthDefaults,
  { checkpoint, video }: Facts,
): Lengths {
  const maxFrames = wholeNumber('max_frames', asked.maxFrames ?? transferMaxFrames, 1, 1_000_000);
  const cap = givenFrames(request, fps) ?? preset.frames ?? Number.POSITIVE_INFINITY;
  const totalFrames = Math.min(frames, cap, maxFrames);
  const wanted = wholeNumber(
    'num_video_frames_per_chunk',
    asked.chunkFrames ?? (request.reference ? Math.min(totalFrames, frameLimit) : chunkDefault),
    1,
    frameLimit,
  );
  const chunkFrames = totalFrames === 1 ? 1 : wholeFrames(wanted, checkpoint.temporalCompression);
  const conditionalFrames = wholeNumber('num_conditional_frames', asked.conditionalFrames ?? 1, 0, frameLimit);
  if (totalFrames > chunkFrames && conditionalFrames >= chunkFrames)
    refuse(
      'invalid_value',
      'num_conditional_frames',
      `num_conditional_frames is ${conditionalFrames}; it must be smaller than the ${chunkFrames} frames of a chunk (num_video_frames_per_chunk): lower it, or make chunks longer`,
    );
  const first = wholeNumber(
    'num_first_chunk_conditional_frames',
    asked.firstChunkConditionalFrames ?? 0,
    0,
    frameLimit,
  );
  if (first > chunkFrames)
    refuse(
      'invalid_value',
      'num_first_chunk_conditional_frames',
      `num_first_chunk_conditional_frames is ${first}; a chunk has ${chunkFrames} frames (num_video_frames_per_chunk): lower it`,
    );
  if (first > 0 && !video)
    refuse(
      'missing_parameter',
      'video',
      `num_first_chunk_conditional_frames is ${first}, but there is no input video to take them from; give one, or 0`,
    );
  return { chunkFrames, totalFrames, conditionalFrames, firstChunkConditionalFrames: first };
}

function transferCanvas(
  request: GenerationRequest,
  defaults: TaskDefaults,
  { source, unit }: { readonly source: Size; readonly unit: number },
  warn: Warn,
): Size {
  const { width, height, reference } = request;
  if (reference && width !== undefined && height !== undefined) return checkSize({ width, height }, unit);
  const size = checkSize(bucketedSize(request, defaults, { source, unit, mode: 'transfer' }), unit);
  if ((width ?? size.width) !== size.width || (height ?? size.height) !== size.height)
    warn(
      'size',
      `size ${width ?? '?'}x${height ?? '?'} is ignored: transfer works at ${size.width}x${size.height}, the nearest trained size (resolution)`,
    );
  return size;
}

function controlGuidance(asked: TransferRequest, preset: TransferPreset): ControlGuidance {
  const { controlGuidanceInterval: interval } = asked;
  return {
    controlScale: finiteNumber('control_guidance', asked.controlGuidance ?? preset.controlGuidance, 0, guidanceLimit),
    controlInterval: interval ? orderedInterval('control_guidance_interval', interval) : null,
  };
}

function showsInput(asked: TransferRequest, hasVideo: boolean, warn: Warn): boolean {
  if (asked.showInput && !hasVideo) warn('show_input', 'show_input is ignored: there is no input video');
  return (asked.showInput ?? false) && hasVideo;
}
