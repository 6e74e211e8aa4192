// Robot actions: rows, domain, time axis and canvas of the three action tasks. Source: api spec, 3.4 and 3.5.
import type { Facts, TaskDefaults } from '../facts.js';
import type { PlannedAction, PlannedCondition, Size } from '../plan-types.js';
import type { ActionRequest, GenerationRequest, Task } from '../request.js';
import { checkRows, fitRows } from './action-rows.js';
import { frameLimit, givenFrames, planFps, wholeFrames } from './clip.js';
import { type ChosenDomain, chooseDomain } from './domains.js';
import { finiteNumber, refuse, type Warn, wholeNumber } from './ranges.js';
import { bucketedSize, checkSize } from './sizes.js';

export type ActionMode = PlannedAction['mode'];

/** What the action tasks settle differently from other tasks. */
export interface ActionPlan {
  readonly action: PlannedAction;
  readonly canvas: Size;
  readonly content: Size;
  /** Frames of the result. */
  readonly frames: number;
  /** Frames that the action sequence spans, as the caption counts them. */
  readonly spannedFrames: number;
  readonly fps: number;
  readonly condition: PlannedCondition;
  readonly domain: ChosenDomain;
}

/** The mode of an action task; null for the others. */
export function actionMode(task: Task): ActionMode | null {
  return task === 'policy' || task === 'forward-dynamics' || task === 'inverse-dynamics' ? task : null;
}

/**
 * Settles an action task.
 * @throws RequestError for an unknown domain, rows of the wrong form, or lengths that do not belong together
 */
export function planActions(
  request: GenerationRequest,
  { mode, defaults }: { readonly mode: ActionMode; readonly defaults: TaskDefaults },
  facts: Facts,
  warn: Warn,
): ActionPlan {
  const asked = request.action ?? {};
  const { checkpoint } = facts;
  const fps = planFps(request.fps ?? defaults.fps);
  const domain = chooseDomain(asked, checkpoint.domains);
  const rawDim = planRawDim(asked, mode, domain, checkpoint.actionDim ?? 0);
  const history = checkRows('action_history', asked.history ?? [], rawDim);
  const lengths = planLengths(request, asked, { fps, historyRows: history.length, defaults });
  const { rows, spannedFrames, chunk } = lengths;
  const forward = mode === 'forward-dynamics' ? fitRows(asked.actions ?? [], { chunk, rawDim }, warn) : [];
  if (mode !== 'forward-dynamics' && asked.actions)
    warn('action', `action is ignored: ${mode} makes the actions itself`);
  if (mode === 'forward-dynamics' && asked.actionsOnly)
    refuse(
      'conflict',
      'actions_only',
      'actions_only leaves forward_dynamics without a result; drop it, or ask for another action mode',
    );
  const canvasSource = conditionSource(mode, facts, warn);
  const canvas = actionCanvas(request, canvasSource.size, defaults, checkpoint.spatialCompression);
  const frames = decodedFrames(spannedFrames, checkpoint.temporalCompression, warn);
  return {
    action: {
      mode,
      domain: domain.id,
      rawDim,
      rows,
      historyRows: history.length,
      fps: asked.fps === undefined ? fps : finiteNumber('action_fps', asked.fps, 0.01, 1000),
      offset: spannedFrames > rows ? 1 : 0,
      given: [...history, ...forward],
      decodeVideo: !(asked.actionsOnly ?? false),
    },
    canvas,
    content: filledSize(canvas, canvasSource.size, checkpoint.spatialCompression),
    frames,
    spannedFrames,
    fps,
    condition: planCondition(mode, canvasSource.source, frames, checkpoint.temporalCompression),
    domain,
  };
}

function planRawDim(asked: ActionRequest, mode: ActionMode, domain: ChosenDomain, most: number): number {
  const usual = domain.rawDims.length > 0 ? `: ${domain.name} has ${domain.rawDims.join(' or ')}` : '';
  if (mode === 'forward-dynamics') {
    const first = asked.actions?.[0];
    if (!first)
      return refuse(
        'missing_parameter',
        'action',
        'Cosmos3 forward_dynamics needs an action array of at least one row; give it as action [steps][numbers]',
      );
    const found = asked.rawActionDim ?? first.length;
    if (asked.rawActionDim === undefined && domain.rawDims.length > 0 && !domain.rawDims.includes(found))
      refuse(
        'invalid_value',
        'action',
        `action has ${found} numbers per row${usual}; give rows of that width, or state raw_action_dim to use yours`,
      );
    return wholeNumber('raw_action_dim', found, 1, most);
  }
  if (asked.rawActionDim === undefined)
    refuse(
      'missing_parameter',
      'raw_action_dim',
      `Cosmos3 action_mode='policy' and 'inverse_dynamics' require extra_args['raw_action_dim']. Give the numbers per action${usual}`,
    );
  return wholeNumber('raw_action_dim', asked.rawActionDim, 1, most);
}

interface LengthFacts {
  readonly fps: number;
  readonly historyRows: number;
  readonly defaults: TaskDefaults;
}

/** Known rows stand at the front of the sequence; it has as many rows as the clip has frames, or one less. */
function planLengths(request: GenerationRequest, { chunk: askedChunk }: ActionRequest, facts: LengthFacts) {
  const { fps, historyRows, defaults } = facts;
  const given = givenFrames(request, fps);
  const fallback = Math.max(1, (given ?? defaults.frames) - 1);
  const chunk = wholeNumber('action_chunk_size', askedChunk ?? fallback, 1, frameLimit - 1);
  const rows = chunk + historyRows;
  const spannedFrames = given ?? (historyRows > 0 ? rows : rows + 1);
  if (spannedFrames === rows || spannedFrames === rows + 1) return { chunk, rows, spannedFrames };
  const history = historyRows > 0 ? ` (with ${historyRows} rows of history)` : '';
  return refuse(
    'invalid_value',
    'num_frames',
    `num_frames is ${spannedFrames} and action_chunk_size ${chunk}${history}; num_frames must be ${rows} or ${rows + 1}: give one of them, or leave num_frames out`,
  );
}

/** The clip that whole latent frames decode to; a remainder of frames is not made. */
function decodedFrames(spanned: number, factor: number, warn: Warn): number {
  const above = wholeFrames(spanned, factor);
  const frames = above === spanned ? spanned : above - factor;
  if (frames !== spanned)
    warn(
      'num_frames',
      `the clip has ${frames} of the ${spanned} frames that the actions span: clips are made in lengths of ${factor}k+1`,
    );
  return frames;
}

function conditionSource(
  mode: ActionMode,
  { image, video }: Facts,
  warn: Warn,
): { source: 'image' | 'video'; size: Size } {
  const takesImage = mode !== 'inverse-dynamics' && image !== null;
  if (image && video)
    warn(
      takesImage ? 'video' : 'image',
      `the ${takesImage ? 'video' : 'image'} is ignored: ${mode} starts from the ${takesImage ? 'image' : 'video'}`,
    );
  const size = takesImage ? image : video;
  if (!size) return refuse('missing_parameter', 'video', `${mode} needs a video; give one`);
  return { source: takesImage ? 'image' : 'video', size };
}

function planCondition(
  mode: ActionMode,
  source: PlannedCondition['source'],
  frames: number,
  factor: number,
): PlannedCondition {
  const latents = mode === 'inverse-dynamics' ? (frames - 1) / factor + 1 : 1;
  return {
    source,
    latentFrames: Array.from({ length: latents }, (_, index) => index),
    pixelFrames: factor * (latents - 1) + 1,
    keep: 'first',
    fit: 'pad',
  };
}

function actionCanvas(request: GenerationRequest, source: Size, defaults: TaskDefaults, unit: number): Size {
  const { width, height } = request;
  if (width !== undefined && height !== undefined) return checkSize({ width, height }, unit);
  const size = bucketedSize(request, defaults, { source, unit, mode: 'action' });
  return checkSize({ width: width ?? size.width, height: height ?? size.height }, unit);
}

/**
 * The part of the canvas that the source fills, in whole latents: the source is shrunk to fit (never enlarged), each side
 * `floor(s x + 0.5)`, and laid at the top left.
 */
export function filledSize(canvas: Size, source: Size, unit: number): Size {
  const scale = Math.min(canvas.width / source.width, canvas.height / source.height, 1);
  const side = (length: number) => Math.max(unit, Math.floor(Math.floor(scale * length + 0.5) / unit) * unit);
  return { width: side(source.width), height: side(source.height) };
}
