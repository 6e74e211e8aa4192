// A request with every question answered. Pure: no device, no file, no clock; everything that can be refused without
// looking at pixels is refused here or at the door.
import { maxSequenceLength, taskDefaults } from './defaults.js';
import type { Facts, InputFacts, TaskDefaults } from './facts.js';
import { type ActionPlan, actionMode, planActions } from './plan/actions.js';
import { chooseTask } from './plan/choose-task.js';
import { planCondition, planFps, planFrames, planSound } from './plan/clip.js';
import { hashJson } from './plan/plan-hash.js';
import { collectWarnings, refuse, type Warn, wholeNumber } from './plan/ranges.js';
import { planSampling } from './plan/sampling/sampling.js';
import { checkSize, freeSize } from './plan/sizes.js';
import { planTransfer, type TransferPlan } from './plan/transfer.js';
import type { Plan, PlannedInput, PlannedPrompt, PlanWarning } from './plan-types.js';
import { viewSentence } from './prompts/action-prompt.js';
import { formatPrompts, type PromptTexts } from './prompts/prompts.js';
import type { GenerationRequest, Task } from './request.js';

export interface PlanResult {
  readonly plan: Plan;
  readonly warnings: readonly PlanWarning[];
}

/**
 * Makes the plan of a request; deeply frozen. Takes milliseconds.
 * @throws RequestError for every request that cannot be served, naming field, value, limit and remedy; nothing else.
 */
export function plan(request: GenerationRequest, facts: Facts): PlanResult {
  const { warn, warnings } = collectWarnings();
  if (typeof request.prompt !== 'string') refuse('missing_parameter', 'prompt', 'prompt is missing; give a text');
  const task = chooseTask(request, facts);
  const shape = planShape(request, task, facts, warn);
  const control = shape.transfer?.control ?? { controlScale: 1, controlInterval: null };
  const sampling = planSampling(request, { defaults: shape.defaults, control }, facts, warn);
  if (sampling.draw > 0 && task !== 'text-to-image') {
    const remedy = 'ask for a text-to-image task, or for another seed';
    refuse(
      'unsupported',
      'noise_index',
      `noise_index is ${sampling.draw}; only pictures come several of one seed: ${remedy}`,
    );
  }
  const texts = formatPrompts(request, promptFacts(request, shape), warn);
  const prompts = planPrompts(request, texts, { ...facts, usesNegative: sampling.guidance.scale > 1 }, warn);
  const { canvas, content, frames, fps, condition, sound, action, transfer } = shape;
  const result: Plan = {
    version: 1,
    task,
    model: facts.checkpoint.id,
    canvas,
    content,
    frames,
    fps,
    ...sampling,
    ...prompts,
    condition,
    sound,
    action: action?.action ?? null,
    transfer: transfer?.transfer ?? null,
    inputs: planInputs(shape, facts),
  };
  return { plan: deepFreeze(result), warnings };
}

/** Size, length and conditioning of a task. */
interface Shape extends Pick<Plan, 'task' | 'canvas' | 'content' | 'frames' | 'fps' | 'condition' | 'sound'> {
  readonly defaults: TaskDefaults;
  /** Frames as the prompt counts them. */
  readonly promptFrames: number;
  readonly action: ActionPlan | null;
  readonly transfer: TransferPlan | null;
}

function planShape(request: GenerationRequest, task: Task, facts: Facts, warn: Warn): Shape {
  const { checkpoint } = facts;
  const defaults = taskDefaults(task, checkpoint);
  const none = { task, condition: null, sound: null, action: null, transfer: null };
  if (task === 'transfer') {
    const transfer = planTransfer(request, facts, defaults, warn);
    const { canvas, fps } = transfer;
    const { totalFrames, chunkFrames } = transfer.transfer;
    const lengths = { frames: totalFrames, promptFrames: chunkFrames };
    return { ...none, ...lengths, canvas, content: canvas, fps, defaults: transfer.defaults, transfer };
  }
  const mode = actionMode(task);
  if (mode) {
    const action = planActions(request, { mode, defaults }, facts, warn);
    const { canvas, content, frames, fps, condition } = action;
    return { ...none, canvas, content, frames, fps, condition, defaults, action, promptFrames: action.spannedFrames };
  }
  const factor = checkpoint.temporalCompression;
  const fps = planFps(request.fps ?? defaults.fps);
  const frames = planFrames(request, { task, fps, defaults, factor }, warn);
  const source = sourceOf(task, facts);
  const canvas = checkSize(freeSize(request, defaults, checkpoint, source), checkpoint.spatialCompression);
  const condition = planCondition(request, task, frames, factor);
  const sound = planSound(request, { frames, fps }, checkpoint, warn);
  if (task === 'text-to-image' && (facts.image || facts.video))
    warn(facts.image ? 'image' : 'video', 'the input is ignored: text-to-image works from the prompt alone');
  return { ...none, canvas, content: canvas, frames, promptFrames: frames, fps, condition, sound, defaults };
}

function sourceOf(task: Task, { image, video }: Facts): InputFacts | null {
  if (task === 'image-to-video') return image;
  return task === 'video-to-video' ? video : null;
}

function promptFacts(request: GenerationRequest, { task, canvas, promptFrames, fps, action, transfer }: Shape) {
  const viewPoint = request.action?.viewPoint ?? 'ego_view';
  const isDroid = action?.domain.id === 8 && action.domain.name !== 'robomind-franka';
  return {
    task,
    canvas,
    frames: promptFrames,
    fps,
    hints: transfer?.transfer.hints.map(({ kind }) => kind) ?? [],
    view: action ? viewSentence(viewPoint, isDroid) : null,
  };
}

function planPrompts(
  request: GenerationRequest,
  { system, positive, negative }: PromptTexts,
  { checkpoint, usesNegative }: Pick<Facts, 'checkpoint'> & { readonly usesNegative: boolean },
  warn: Warn,
): Pick<Plan, 'prompt' | 'negativePrompt'> {
  const limit = wholeNumber('max_sequence_length', request.maxSequenceLength ?? maxSequenceLength, 1, 262_144);
  const tokenise = (param: string, user: string): PlannedPrompt => {
    const turns = { user, maxSequenceLength: limit, ...(system === null ? {} : { system }) };
    const { ids, text, truncated, fullLength } = checkpoint.tokenizer.promptTokens(turns);
    if (truncated)
      warn(
        param,
        `${param} has ${fullLength} tokens; the last ${fullLength - limit} were cut: shorten it, or raise max_sequence_length ${limit}`,
      );
    return { text, tokens: Array.from(ids), truncated };
  };
  if (!usesNegative && request.negativePrompt)
    warn('negative_prompt', 'negative_prompt has no effect: guidance_scale is not above 1');
  return {
    prompt: tokenise('prompt', positive),
    negativePrompt: usesNegative ? tokenise('negative_prompt', negative) : null,
  };
}

function planInputs({ condition, action, transfer }: Shape, facts: Facts): PlannedInput[] {
  const inputs: PlannedInput[] = [];
  const add = (role: PlannedInput['role'], input: InputFacts | null) => {
    if (!input) return;
    const { sha256, width, height, frames } = input;
    inputs.push({ role, sha256, width, height, frames });
  };
  if (condition) add(condition.source, condition.source === 'image' ? facts.image : facts.video);
  if (transfer) add('video', facts.video);
  for (const control of transfer?.controls ?? []) add('control', control);
  const given = action?.action.given ?? [];
  if (action && given.length > 0)
    inputs.push({
      role: 'actions',
      sha256: hashJson(given),
      width: action.action.rawDim,
      height: 1,
      frames: given.length,
    });
  return inputs;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}
