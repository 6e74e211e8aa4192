// The door: wire words in, GenerationRequest out. This is the one place where names are converted.

import Type, { type Static } from 'typebox';
import type { MediaSource } from '../../pipeline/media-source.js';
import type { PlanWarning } from '../../pipeline/plan-types.js';
import type { ActionRequest, GenerationRequest, HintKind, Task, TransferRequest } from '../../pipeline/request.js';
import { extraParams, generationFields, parseFields, RequestError } from '../../protocol/index.js';
import { mergeNames, type NamedValues } from './merge-names.js';
import { type Defined, omitUndefined } from './omit-undefined.js';
import { readActionRows } from './read-actions.js';
import { readHints } from './read-hints.js';
import { readStepCache } from './read-step-cache.js';
import { asksForImage, readCodecOptions, readIndexes, readInterval, readSize } from './read-values.js';

/** What arrived, in wire words. */
export interface WireRequest {
  /** Fields by their wire names; extra parameters among them are taken too. */
  readonly fields: NamedValues;
  /** Extra parameters; they win over fields of the same name. */
  readonly extra?: NamedValues;
  readonly image?: MediaSource;
  readonly video?: MediaSource;
  /** Control maps that arrived as files, by hint. */
  readonly controls?: Readonly<Partial<Record<HintKind, MediaSource>>>;
}

/** A well-formed request and what belongs to it but not to the plan. */
export interface ReadRequest {
  readonly request: GenerationRequest;
  /** The checkpoint it names, if any. */
  readonly model: string | undefined;
  /** False where the request turns the safety checks off. */
  readonly guardrails: boolean;
  /** Options of the H.264 encoder; empty for the usual ones. */
  readonly codecOptions: Readonly<Record<string, string | number>>;
  readonly warnings: readonly PlanWarning[];
}

const scalars = Type.Object({ ...generationFields, ...extraParams });
type Scalars = Static<typeof scalars>;

/**
 * Reads a request.
 * @param options.strict unknown parameters are errors instead of warnings
 * @throws RequestError naming the parameter, its value and what would fit
 */
export function readRequest(wire: WireRequest, options: { readonly strict?: boolean } = {}): ReadRequest {
  const { values, warnings } = mergeNames(wire.fields, wire.extra ?? {}, options.strict === true);
  const known = parseFields(scalars, normalise(values));
  const size = known.size === undefined ? undefined : readSize(known.size);
  const task = readTask(known, values);
  const reuse = readStepCache(values.step_cache, {
    threshold: known.step_cache_threshold,
    warmupSteps: known.step_cache_warmup,
  });
  const action = readAction(known, values);
  if (known.prompt === undefined && known.action_mode !== 'inverse_dynamics' && task !== 'inverse-dynamics') {
    throw new RequestError('missing_parameter', 'prompt', 'prompt is missing: say in words what to make');
  }
  const request: GenerationRequest = {
    prompt: known.prompt ?? '',
    ...omitUndefined({
      task,
      negativePrompt: known.negative_prompt,
      image: wire.image,
      video: wire.video,
      width: size?.width ?? known.width,
      height: size?.height ?? known.height,
      resolution: known.resolution,
      aspectRatio: known.aspect_ratio?.replaceAll(' ', '').replace(':', ','),
      frames: known.num_frames,
      seconds: known.seconds,
      fps: known.fps,
      steps: known.num_inference_steps,
      // Zero means "not given": callers of the original interface send it for the default.
      guidance: known.guidance_scale === 0 ? undefined : known.guidance_scale,
      guidanceInterval: readInterval('guidance_interval', values.guidance_interval),
      flowShift: known.flow_shift,
      seed: known.seed,
      draw: known.noise_index,
      maxSequenceLength: known.max_sequence_length,
      useResolutionTemplate: known.use_resolution_template,
      useDurationTemplate: known.use_duration_template,
      negativeMetadataMode: known.negative_metadata_mode,
      useSystemPrompt: known.use_system_prompt,
      systemPrompt: known.system_prompt,
      promptSuffix: known.prompt_suffix,
      sound: known.generate_sound,
      soundDuration: known.sound_duration,
      conditionFrames: readIndexes('condition_frame_indexes_vision', values.condition_frame_indexes_vision),
      conditionKeep: known.condition_video_keep,
      transfer: readTransfer(known, values, wire.controls ?? {}),
      action,
      skipSteps: readIndexes('skip_steps', values.skip_steps),
      skipMode: known.skip_mode ?? reuse.skipMode,
      stepCache: reuse.stepCache,
      guidanceEvery: known.guidance_cache_every,
    }),
  };
  const codecOptions = readCodecOptions(values.video_codec_options);
  return { request, model: known.model, guardrails: known.guardrails ?? true, codecOptions, warnings };
}

/** Spellings that the schemas do not know: underscores in a task, the named system prompts of the image route. */
function normalise(values: NamedValues): NamedValues {
  const { task, use_system_prompt: system } = values;
  const isNamed = typeof system === 'string' && /^(none|dynamic|custom|en_\w+)$/i.test(system);
  return {
    ...values,
    ...(typeof task === 'string' ? { task: task.replaceAll('_', '-') } : {}),
    ...(isNamed ? { use_system_prompt: system.toLowerCase() !== 'none' } : {}),
  };
}

const actionTasks: Readonly<Record<NonNullable<Scalars['action_mode']>, Task>> = {
  policy: 'policy',
  forward_dynamics: 'forward-dynamics',
  inverse_dynamics: 'inverse-dynamics',
};

function readTask(known: Scalars, values: NamedValues): Task | undefined {
  const byMode = known.action_mode === undefined ? undefined : actionTasks[known.action_mode];
  const given = known.task ?? (asksForImage(values.modalities) ? 'text-to-image' : undefined);
  if (given !== undefined && byMode !== undefined && given !== byMode) {
    if (given === 'text-to-image') {
      throw new RequestError('conflict', 'action_mode', 'action generation is supported only for video outputs');
    }
    throw new RequestError('conflict', 'task', `task ${given} contradicts action_mode ${known.action_mode}; give one`);
  }
  return given ?? byMode;
}

function readTransfer(
  known: Scalars,
  values: NamedValues,
  uploads: Readonly<Partial<Record<HintKind, MediaSource>>>,
): TransferRequest | undefined {
  const hints = readHints(values, uploads);
  const options: Defined<Omit<TransferRequest, 'hints'>> = omitUndefined({
    controlGuidance: known.control_guidance,
    controlGuidanceInterval: readInterval('control_guidance_interval', values.control_guidance_interval),
    chunkFrames: known.num_video_frames_per_chunk,
    conditionalFrames: known.num_conditional_frames,
    firstChunkConditionalFrames: known.num_first_chunk_conditional_frames,
    maxFrames: known.max_frames,
    showControlCondition: known.show_control_condition,
    showInput: known.show_input,
    shareTemporalPositions: known.share_vision_temporal_positions,
    emphasizeControl: known.emphasize_control_in_prompt,
    attention: known.control_attention,
  });
  return hints.length === 0 && Object.keys(options).length === 0 ? undefined : { hints, ...options };
}

function readAction(known: Scalars, values: NamedValues): ActionRequest | undefined {
  const rows = (name: string) => (values[name] === undefined ? undefined : readActionRows(name, values[name]));
  const action: ActionRequest = omitUndefined({
    domainName: known.domain_name,
    domainId: known.domain_id,
    rawActionDim: known.raw_action_dim,
    chunk: known.action_chunk_size,
    fps: known.action_fps,
    actions: rows('action'),
    history: rows('action_history'),
    viewPoint: known.view_point,
    promptAsJson: known.format_prompt_as_json,
    actionsOnly: known.actions_only,
  });
  return Object.keys(action).length === 0 && known.action_mode === undefined ? undefined : action;
}
