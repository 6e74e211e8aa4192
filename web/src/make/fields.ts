// The parameters as the protocol states them: where each stands in a request, how it is typed, and which of them concern a task.
import type { TSchema } from 'typebox';
import {
  extraParams,
  generationFields,
  hintParams,
  ImageRequest,
  parseField,
  RequestError,
  structuredParams,
} from '../../../src/protocol/index.js';
import { isActionTask, type Task } from './task-inputs.js';

const imageFields = { output_format: ImageRequest.properties.output_format };

/** Schema of a parameter; undefined for a name that the protocol does not have. */
export function schemaOf(name: string): TSchema | undefined {
  const all: Readonly<Record<string, TSchema>> = {
    ...generationFields,
    ...extraParams,
    ...structuredParams,
    ...imageFields,
  };
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

/** Whether a parameter stands in `extra_params` rather than beside it. */
export function isExtra(name: string): boolean {
  return Object.hasOwn(extraParams, name) || Object.hasOwn(structuredParams, name);
}

/** How a parameter is typed in. */
export type Control =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'switch' }
  | {
      readonly kind: 'number';
      readonly step: number;
      readonly min: number | undefined;
      readonly max: number | undefined;
    }
  | { readonly kind: 'text' }
  /** Lists, intervals, rows: written as text or JSON. */
  | { readonly kind: 'structure' };

/** The control for a schema. */
export function controlOf(schema: TSchema): Control {
  const { enum: words, type, minimum, maximum } = readKeys(schema);
  if (Array.isArray(words)) return { kind: 'words', words: words.map(String) };
  if (type === 'boolean') return { kind: 'switch' };
  if (type === 'integer' || type === 'number') {
    return { kind: 'number', step: type === 'integer' ? 1 : 0.5, min: numberOf(minimum), max: numberOf(maximum) };
  }
  return { kind: type === 'string' ? 'text' : 'structure' };
}

/** Strengths that a hint has; none for the hints that are given as maps alone. */
export function presetOf(
  hint: keyof typeof hintParams,
): { readonly name: string; readonly words: readonly string[] } | null {
  const { anyOf } = readKeys(hintParams[hint]);
  const forms: readonly unknown[] = Array.isArray(anyOf) ? anyOf : [];
  for (const form of forms) {
    const { properties } = readKeys(form);
    for (const [name, property] of Object.entries(readKeys(properties))) {
      const { enum: words } = readKeys(property);
      if (Array.isArray(words)) return { name, words: words.map(String) };
    }
  }
  return null;
}

/**
 * A value as a request holds it, from what was typed.
 * @throws RequestError in the words of the server
 */
export function readTyped(name: string, text: string): unknown {
  const schema = schemaOf(name);
  if (schema === undefined) return text;
  const { kind } = controlOf(schema);
  if (kind === 'number') return parseField(name, schema, Number.isNaN(Number(text)) ? text : Number(text));
  if (kind !== 'structure') return parseField(name, schema, text);
  if (!/^\s*[[{]/.test(text)) return text.trim();
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch (error) {
    throw new RequestError('invalid_value', name, `${name}: ${error instanceof Error ? error.message : error}`);
  }
}

/** A group of parameters under a headline. */
export interface FieldGroup {
  readonly id: 'prompt' | 'sampling' | 'transfer' | 'action' | 'output' | 'more';
  readonly names: readonly string[];
}

/** Parameters that have a place of their own on the form, or none: inputs, size, length, seed. */
const placed = [
  'prompt',
  'model',
  'task',
  'action_mode',
  'modalities',
  'size',
  'width',
  'height',
  'resolution',
  'num_frames',
  'seconds',
  'fps',
  'seed',
  'generate_sound',
  'action',
  'domain_name',
  'raw_action_dim',
  ...Object.keys(hintParams),
] as const;

const groups: readonly (FieldGroup & { readonly fits: (task: Task) => boolean })[] = [
  {
    id: 'prompt',
    names: [
      'negative_prompt',
      'prompt_suffix',
      'use_system_prompt',
      'system_prompt',
      'use_resolution_template',
      'use_duration_template',
      'negative_metadata_mode',
      'aspect_ratio',
      'max_sequence_length',
      'guardrails',
    ],
    fits: () => true,
  },
  {
    id: 'sampling',
    names: [
      'num_inference_steps',
      'guidance_scale',
      'guidance_interval',
      'flow_shift',
      'skip_steps',
      'skip_mode',
      'noise_index',
    ],
    fits: () => true,
  },
  {
    id: 'sampling',
    names: ['condition_frame_indexes_vision', 'condition_video_keep'],
    fits: (task) => task === 'video-to-video',
  },
  {
    id: 'transfer',
    names: [
      'control_guidance',
      'control_guidance_interval',
      'num_video_frames_per_chunk',
      'num_conditional_frames',
      'num_first_chunk_conditional_frames',
      'max_frames',
      'show_control_condition',
      'show_input',
      'share_vision_temporal_positions',
      'emphasize_control_in_prompt',
      'control_attention',
    ],
    fits: (task) => task === 'transfer',
  },
  {
    id: 'action',
    names: [
      'domain_id',
      'action_chunk_size',
      'action_fps',
      'view_point',
      'format_prompt_as_json',
      'actions_only',
      'action_history',
    ],
    fits: isActionTask,
  },
  { id: 'output', names: ['output_format'], fits: (task) => task === 'text-to-image' },
  { id: 'output', names: ['video_codec_options'], fits: (task) => task !== 'text-to-image' },
  { id: 'output', names: ['sound_duration'], fits: takesSound },
];

/** Whether sound can be made with the result. */
export function takesSound(task: Task): boolean {
  return task === 'text-to-video' || task === 'image-to-video' || task === 'video-to-video';
}

/** The folded parameters of a task by group. A parameter that the protocol gains later appears under `more`. */
export function foldedGroups(task: Task): readonly FieldGroup[] {
  const fitting = groups.filter(({ fits }) => fits(task));
  const ids = ['prompt', 'sampling', 'transfer', 'action', 'output'] as const;
  const known = new Set<string>([...placed, ...groups.flatMap(({ names }) => names)]);
  const more = [...Object.keys(generationFields), ...Object.keys(extraParams), ...Object.keys(structuredParams)].filter(
    (name) => !known.has(name),
  );
  return [
    ...ids.map((id) => ({ id, names: fitting.filter((group) => group.id === id).flatMap(({ names }) => names) })),
    { id: 'more' as const, names: more },
  ].filter(({ names }) => names.length > 0);
}

/** Every parameter that a request of this task may hold from the form's text fields. */
export function sentNames(task: Task): readonly string[] {
  const own = ['prompt', 'seed', ...(task === 'text-to-image' ? [] : ['num_frames', 'fps'])];
  return [
    ...own,
    ...(takesSound(task) ? ['generate_sound'] : []),
    ...(isActionTask(task) ? ['domain_name', ...(task === 'forward-dynamics' ? [] : ['raw_action_dim'])] : []),
    ...foldedGroups(task).flatMap(({ names }) => names),
  ];
}

function readKeys(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
