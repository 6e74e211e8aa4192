// A golden case's request in the engine's words, with the settings of the reference made explicit
// (docs/decisions/reference.md: system prompt, sentences, grid, raw prompts).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clipFromArray, decodeImage, imageAsClip, type RgbClip, readNpy } from '../../../media/index.js';
import type { InputFacts } from '../../../pipeline/facts.js';
import type { PlanInputs } from '../../../pipeline/inputs.js';
import type { GenerationRequest, HintKind, ReferenceSettings, Task } from '../../../pipeline/request.js';
import { hintKinds } from '../../../pipeline/request.js';
import type { CaseInfo, GoldenFolder, GoldenTensors } from './golden.js';

/** Pixels per latent row and column. */
const SPATIAL = 16;

export interface PreparedCase {
  readonly request: GenerationRequest;
  readonly image: InputFacts | null;
  readonly video: InputFacts | null;
  readonly hints: readonly InputFacts[];
  readonly inputs: PlanInputs;
}

function referenceSettings(info: CaseInfo, rawPrompt: boolean): ReferenceSettings {
  const { scheduler } = info;
  const number = (key: string) => (typeof scheduler[key] === 'number' ? (scheduler[key] as number) : null);
  const order = number('solver_order');
  return {
    grid: info.use_native_flow_schedule ? 'native' : 'linspace',
    ...(scheduler.use_karras_sigmas === true && {
      karras: { sigmaMin: number('sigma_min') ?? 0, sigmaMax: number('sigma_max') ?? 0 },
    }),
    ...(order && { solverOrder: order as 1 | 2 | 3 }),
    ...(scheduler.solver_type === 'bh1' && { solverVariant: 'bh1' as const }),
    rawPrompt,
    untrimmedSound: true,
  };
}

/** @throws Error naming a missing input */
export async function prepareCase(
  folder: GoldenFolder,
  info: CaseInfo,
  golden: GoldenTensors,
  useSystemPrompt: boolean,
): Promise<PreparedCase> {
  const { request: r } = info;
  const shared: GenerationRequest = {
    prompt: r.prompt,
    negativePrompt: r.negative_prompt ?? '',
    seed: info.seed ?? 0,
    fps: r.fps ?? 24,
    guidanceInterval: [0, 1000],
    ...(r.width && { width: r.width }),
    ...(r.height && { height: r.height }),
    ...(r.num_frames && { frames: r.num_frames }),
    ...(r.num_inference_steps && { steps: r.num_inference_steps }),
    ...(r.guidance_scale !== undefined && { guidance: r.guidance_scale }),
    ...(typeof info.scheduler.flow_shift === 'number' && { flowShift: info.scheduler.flow_shift }),
  };
  if (r.control_videos) return transferCase(folder, info, shared);
  if (r.action) return actionCase(folder, info, golden, { ...shared, useSystemPrompt });
  const image = r.image ? await readClip(join(folder.path, r.image)) : null;
  const video = r.video ? await readClip(join(folder.path, r.video)) : null;
  const task: Task = image
    ? 'image-to-video'
    : video
      ? 'video-to-video'
      : r.num_frames === 1
        ? 'text-to-image'
        : 'text-to-video';
  const request: GenerationRequest = {
    ...shared,
    task,
    useSystemPrompt,
    useResolutionTemplate: true,
    useDurationTemplate: true,
    negativeMetadataMode: 'inverse',
    reference: referenceSettings(info, true),
    ...(image && { image: { kind: 'frames', clip: image } }),
    ...(video && { video: { kind: 'frames', clip: video } }),
    ...(r.enable_sound && { sound: true }),
    ...(r.condition_frame_indexes_vision && { conditionFrames: r.condition_frame_indexes_vision }),
    ...(r.condition_video_keep && { conditionKeep: r.condition_video_keep }),
  };
  return {
    request,
    image: image && factsOf(image),
    video: video && factsOf(video),
    hints: [],
    inputs: { image, video, controls: new Map() },
  };
}

async function transferCase(folder: GoldenFolder, info: CaseInfo, shared: GenerationRequest): Promise<PreparedCase> {
  const { request: r } = info;
  const controls = new Map<HintKind, RgbClip>();
  for (const kind of hintKinds) {
    const path = r.control_videos?.[kind];
    if (path) controls.set(kind, await readClip(join(folder.path, path)));
  }
  const request: GenerationRequest = {
    ...shared,
    task: 'transfer',
    useResolutionTemplate: false,
    useDurationTemplate: false,
    reference: referenceSettings(info, true),
    transfer: {
      hints: [...controls].map(([kind, clip]) => ({ kind, source: { kind: 'frames', clip } })),
      controlGuidance: r.control_guidance ?? 1,
      chunkFrames: r.num_video_frames_per_chunk ?? r.num_frames ?? 93,
      emphasizeControl: false,
      ...(r.num_conditional_frames !== undefined && { conditionalFrames: r.num_conditional_frames }),
      ...(r.control_attention && { attention: r.control_attention }),
    },
  };
  return {
    request,
    image: null,
    video: null,
    hints: [...controls.values()].map(factsOf),
    inputs: { image: null, video: null, controls },
  };
}

/** The padded canvas is taken from the case: the reference resized its sources first, which the engine does not. */
function actionCase(
  folder: GoldenFolder,
  info: CaseInfo,
  golden: GoldenTensors,
  shared: GenerationRequest,
): PreparedCase {
  const { action } = info.request;
  if (!action) throw new Error('no action in the case');
  const clip = canvasOf(golden);
  const [, , , rows = 0, columns = 0] = golden.get('noise/vision')?.shape ?? [];
  const source = { ...factsOf(clip), width: columns * SPATIAL, height: rows * SPATIAL };
  const fromVideo = action.video !== undefined;
  const task = action.mode.replace('_', '-') as Task;
  const given = action.actions ? folder.index[action.actions] : undefined;
  const request: GenerationRequest = {
    ...shared,
    task,
    frames: action.chunk_size + 1,
    resolution: String(action.resolution_tier),
    reference: referenceSettings(info, true),
    ...(fromVideo ? { video: { kind: 'frames', clip } } : { image: { kind: 'frames', clip } }),
    action: {
      domainName: action.domain_name,
      rawActionDim: action.raw_action_dim,
      chunk: action.chunk_size,
      viewPoint: action.view_point,
      promptAsJson: true,
      ...(Array.isArray(given) && { actions: given as number[][] }),
    },
  };
  const inputs: PlanInputs = { image: fromVideo ? null : clip, video: fromVideo ? clip : null, controls: new Map() };
  return { request, image: fromVideo ? null : source, video: fromVideo ? source : null, hints: [], inputs };
}

/** `vision_condition_pixels_u8` `[1, 3, F, H, W]` as a clip. */
function canvasOf(golden: GoldenTensors): RgbClip {
  const tensor = golden.get('vision_condition_pixels_u8');
  if (!tensor) throw new Error('an action case needs vision_condition_pixels_u8');
  const [, , frames = 0, height = 0, width = 0] = tensor.shape;
  const plane = frames * height * width;
  const data = new Uint8Array(3 * plane);
  for (let c = 0; c < 3; c++) for (let i = 0; i < plane; i++) data[3 * i + c] = tensor.values[c * plane + i] as number;
  return { width, height, frames, fps: null, data };
}

async function readClip(path: string): Promise<RgbClip> {
  if (path.endsWith('.npy')) return clipFromArray(readNpy(readFileSync(path), path));
  return imageAsClip(await decodeImage(readFileSync(path)));
}

function factsOf(clip: RgbClip): InputFacts {
  return { sha256: '', width: clip.width, height: clip.height, frames: clip.frames, fps: clip.fps };
}
