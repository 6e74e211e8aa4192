// The parameters as the protocol states them: where each stands in a request, how it is typed, and which of them concern a task.
import type { TSchema } from 'typebox';
import {
  extraParamGroups,
  extraParams,
  generationFields,
  hintParams,
  ImageRequest,
  parseField,
  RequestError,
  structuredParams,
  traitsOf,
} from '../../../src/protocol/index.js';
import { type HintName, hintNames, isActionTask, isHint, rolesOf, type Task } from './task-inputs.js';

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

/** Limits of a number as its field has them. */
export function limitsOf(schema: TSchema | undefined): { readonly min?: number; readonly max?: number } {
  const control = schema && controlOf(schema);
  if (control?.kind !== 'number') return {};
  const { min, max } = control;
  return { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
}

/** Members of the object that a hint may be given as. */
function membersOf(hint: HintName): readonly (readonly [string, TSchema])[] {
  const { anyOf } = readKeys(hintParams[hint]);
  const forms: readonly unknown[] = Array.isArray(anyOf) ? anyOf : [];
  return forms.flatMap((form) =>
    Object.entries(readKeys(readKeys(form).properties)).map(([name, schema]) => [name, readKeys(schema)] as const),
  );
}

/** Strengths that a hint has; none for the hints that are given as maps alone. */
export function presetOf(hint: HintName): { readonly name: string; readonly words: readonly string[] } | null {
  for (const [name, schema] of membersOf(hint)) {
    const control = controlOf(schema);
    if (control.kind === 'words') return { name, words: control.words };
  }
  return null;
}

/** The member of a hint that says how much it counts: the one number among them. */
export function weightOf(hint: HintName): { readonly name: string; readonly schema: TSchema } | null {
  const found = membersOf(hint).find(([, schema]) => controlOf(schema).kind === 'number');
  return found === undefined ? null : { name: found[0], schema: found[1] };
}

/**
 * A value as a request holds it, from what was typed.
 * @throws RequestError in the words of the server
 */
export function readTyped(name: string, text: string): unknown {
  const schema = schemaOf(name);
  return schema === undefined ? text : readAs(name, schema, text);
}

/** The same by a schema at hand. @throws RequestError in the words of the server */
export function readAs(name: string, schema: TSchema, text: string): unknown {
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

/** A parameter that the protocol has. */
type Parameter =
  | keyof typeof generationFields
  | keyof typeof extraParams
  | keyof typeof structuredParams
  | keyof typeof imageFields;

/** A group of parameters under a headline. */
export interface FieldGroup {
  readonly id: 'prompt' | 'sampling' | 'transfer' | 'action' | 'output' | 'more';
  readonly names: readonly string[];
}

/** Parameters that have a place of their own on the form, or none: inputs, size, length, seed. */
const placed: readonly Parameter[] = [
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
];

/** What the form shows folded, in its order: after the names that stand here come those of the protocol's own group. */
const groups: Readonly<Record<Exclude<FieldGroup['id'], 'more'>, readonly Parameter[]>> = {
  prompt: ['negative_prompt', 'use_system_prompt', 'system_prompt', 'aspect_ratio', 'max_sequence_length'],
  sampling: [
    'num_inference_steps',
    'guidance_scale',
    'guidance_interval',
    'flow_shift',
    'skip_steps',
    'step_cache',
    'condition_frame_indexes_vision',
  ],
  transfer: ['control_guidance', 'control_guidance_interval'],
  action: ['action_history'],
  output: ['output_format', 'video_codec_options', 'sound_duration'],
};

/** Parameters that only some tasks have; the others of a group stand wherever the group does. */
const onlyWhere: Readonly<Partial<Record<string, (task: Task) => boolean>>> = {
  output_format: (task) => traitsOf(task).makes === 'picture',
  video_codec_options: (task) => traitsOf(task).makes === 'clip',
  sound_duration: (task) => traitsOf(task).takesSound,
  condition_frame_indexes_vision: continuesClip,
  condition_video_keep: continuesClip,
};

/** The reference clip conditions a part of the result. */
function continuesClip(task: Task): boolean {
  const { reads, isRobot } = traitsOf(task);
  return reads.includes('video') && !reads.some(isHint) && !isRobot;
}

/** Whether a group concerns a task. */
function isGroupOf(id: FieldGroup['id'], task: Task): boolean {
  if (id === 'transfer') return rolesOf(task).some(isHint);
  return id === 'action' ? isActionTask(task) : true;
}

/** The folded parameters of a task by group. A parameter that the protocol gains later appears in its group, or under `more`. */
export function foldedGroups(task: Task): readonly FieldGroup[] {
  const ids = ['prompt', 'sampling', 'transfer', 'action', 'output'] as const;
  const hidden = new Set<string>([...placed, ...hintNames]);
  const all = ids.map((id) => {
    const own = id === 'output' ? [] : Object.keys(extraParamGroups[id]);
    return { id, names: [...new Set<string>([...groups[id], ...own])].filter((name) => !hidden.has(name)) };
  });
  const known = new Set([...hidden, ...all.flatMap(({ names }) => names)]);
  const more = [...Object.keys(generationFields), ...Object.keys(extraParams), ...Object.keys(structuredParams)];
  return [
    ...all.filter(({ id }) => isGroupOf(id, task)),
    { id: 'more' as const, names: more.filter((name) => !known.has(name)) },
  ]
    .map(({ id, names }) => ({ id, names: names.filter((name) => onlyWhere[name]?.(task) ?? true) }))
    .filter(({ names }) => names.length > 0);
}

/** Every parameter that a request of this task may hold from the form's text fields. */
export function sentNames(task: Task): readonly string[] {
  const { makes, takesSound, isRobot, reads } = traitsOf(task);
  const own: readonly Parameter[] = [
    'prompt',
    'seed',
    ...(makes === 'clip' ? (['num_frames', 'fps'] as const) : []),
    ...(takesSound ? (['generate_sound'] as const) : []),
    ...(isRobot ? (['domain_name'] as const) : []),
    // Given actions say themselves how long they are.
    ...(isRobot && !reads.includes('action') ? (['raw_action_dim'] as const) : []),
  ];
  return [...own, ...foldedGroups(task).flatMap(({ names }) => names)];
}

function readKeys(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
