// What stands on the form: typed values, dropped inputs, the chosen task. It outlives the view, so that looking at a result loses nothing.
import { batch, type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Job } from '../../../src/protocol/index.js';
import { presetOf, weightOf } from './fields.js';
import { type HintName, hintNames, isHint, isTask, type Role, rolesOf, type Task, taskFor } from './task-inputs.js';

/** A file that was dropped, or that an older job had. */
export interface DraftInput {
  readonly key: number;
  readonly role: Role;
  readonly name: string;
  readonly state: 'sending' | 'ready' | 'failed';
  /** What is wrong with it. */
  readonly error: string | undefined;
  /** Name of the file at the server; null until it has arrived, and for actions, which travel in the request. */
  readonly fileId: string | null;
  readonly kind: 'image' | 'video' | 'rows';
  /** To show it: an address of the page or of the server. */
  readonly url: string | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly frames: number | null;
  readonly rows: readonly (readonly number[])[] | null;
}

/** One control hint of a transfer. */
export interface DraftHint {
  readonly isOn: boolean;
  readonly weight: string;
  readonly preset: string;
}

/** Shape of the canvas: by itself, of a trained shape, or typed. */
export type ShapeChoice = 'auto' | 'own' | string;

export interface Draft {
  readonly task: Signal<Task>;
  /** What was typed, by wire name; absent or empty: not said. */
  readonly values: Signal<Readonly<Record<string, string>>>;
  readonly inputs: Signal<readonly DraftInput[]>;
  /** By hint; one that is absent is off. */
  readonly hints: Signal<Readonly<Record<string, DraftHint>>>;
  readonly shape: Signal<ShapeChoice>;
  /** Tier of a trained shape, or of the bucket of a transfer or action; empty: by itself. */
  readonly tier: Signal<string>;
  readonly keepsSeed: Signal<boolean>;
  /** Seed of the job made last. */
  readonly lastSeed: Signal<number | null>;
}

const freshHint: DraftHint = { isOn: false, weight: '', preset: '' };

/** An empty form. */
export function createDraft(): Draft {
  return {
    task: signal<Task>('text-to-image'),
    values: signal({}),
    inputs: signal([]),
    hints: signal(freshHints()),
    shape: signal('auto'),
    tier: signal(''),
    keepsSeed: signal(false),
    lastSeed: signal(null),
  };
}

function freshHints(): Draft['hints']['value'] {
  // The first that the server makes by itself is on: a dropped clip is all that it takes then.
  const first = hintNames.find((name) => presetOf(name) !== null);
  return first === undefined ? {} : { [first]: { ...freshHint, isOn: true } };
}

/** A hint as it stands on the form. */
export function hintIn(draft: Draft, name: HintName): DraftHint {
  return draft.hints.value[name] ?? freshHint;
}

/** Empties the form; the task stays. */
export function resetDraft(draft: Draft): void {
  batch(() => {
    draft.values.value = {};
    draft.inputs.value = [];
    draft.hints.value = freshHints();
    draft.shape.value = 'auto';
    draft.tier.value = '';
    draft.keepsSeed.value = false;
    draft.task.value = taskFor([], draft.task.value);
  });
}

/** Types a value. */
export function setValue(draft: Draft, name: string, text: string): void {
  draft.values.value = { ...draft.values.value, [name]: text };
}

/** Changes a hint. */
export function setHint(draft: Draft, name: HintName, change: Partial<DraftHint>): void {
  draft.hints.value = { ...draft.hints.value, [name]: { ...hintIn(draft, name), ...change } };
}

/** Puts an input in, in the place of one of the same role; the task follows. */
export function putInput(draft: Draft, input: DraftInput): void {
  batch(() => {
    const others = draft.inputs.value.filter(({ key, role }) => key !== input.key && role !== input.role);
    draft.inputs.value = [...others, input];
    if (isHint(input.role)) setHint(draft, input.role, { isOn: true });
    followInputs(draft);
  });
}

/** Changes an input that is still there; one that was removed meanwhile stays away. */
export function changeInput(draft: Draft, key: number, change: Partial<DraftInput>): void {
  const before = draft.inputs.value.find((input) => input.key === key);
  if (before) putInput(draft, { ...before, ...change });
}

/** Takes an input out; the task follows. */
export function removeInput(draft: Draft, key: number): void {
  batch(() => {
    const gone = draft.inputs.value.find((input) => input.key === key);
    draft.inputs.value = draft.inputs.value.filter((input) => input.key !== key);
    if (gone?.url?.startsWith('blob:')) URL.revokeObjectURL(gone.url);
    followInputs(draft);
  });
}

function followInputs(draft: Draft): void {
  draft.task.value = taskFor(
    draft.inputs.value.map(({ role }) => role),
    draft.task.value,
  );
}

/** Fills the form from the request of an older job. */
export function loadJob(draft: Draft, job: Job, nextKey: () => number): void {
  const { extra_params: given, ...fields } = job.request;
  const extra = readMembers(given);
  const all = { ...fields, ...extra };
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(all)) {
    if (isHint(name) || notTyped.has(name) || value === null || value === undefined) continue;
    values[name] = typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
  const [width, height] = typeof all.size === 'string' ? all.size.split('x') : [values.width, values.height];
  const hints = Object.fromEntries(hintNames.map((name) => [name, readHint(name, all[name])]));
  batch(() => {
    resetDraft(draft);
    const task = job.task ?? all.task;
    if (isTask(task)) draft.task.value = task;
    draft.values.value = { ...values, ...(width && height ? { width, height } : {}) };
    draft.shape.value = width && height ? 'own' : 'auto';
    draft.tier.value = typeof all.resolution === 'string' ? all.resolution : '';
    draft.keepsSeed.value = values.seed !== undefined;
    draft.lastSeed.value = job.seed;
    if (rolesOf(draft.task.value).some(isHint)) draft.hints.value = hints;
    draft.inputs.value = [
      ...job.inputs.flatMap((input) => toInput(input, nextKey())),
      ...toRows(all.action, nextKey()),
    ];
  });
}

/** Members of a request that are no text fields of the form. */
const notTyped = new Set([
  'task',
  'size',
  'resolution',
  'action',
  'model',
  'user',
  'input_reference',
  'image_reference',
  'video_reference',
  'control_type',
  'control_reference',
]);

function toInput({ role, file_id: fileId, media_type: type, url }: Job['inputs'][number], key: number): DraftInput[] {
  if (role !== 'image' && role !== 'video' && !isHint(role)) return [];
  const kind = type.startsWith('video/') ? 'video' : 'image';
  const unknown = { width: null, height: null, frames: null, rows: null, error: undefined };
  return [{ key, role, name: role, state: 'ready', fileId, kind, url, ...unknown }];
}

function toRows(action: unknown, key: number): DraftInput[] {
  if (!Array.isArray(action)) return [];
  const unknown = { url: null, width: null, height: null, frames: null, error: undefined, fileId: null };
  return [{ key, role: 'action', name: 'action', state: 'ready', kind: 'rows', rows: action, ...unknown }];
}

function readHint(hint: HintName, given: unknown): DraftHint {
  if (given === undefined || given === null || given === false) return freshHint;
  const members = readMembers(given);
  const preset = members[presetOf(hint)?.name ?? ''];
  const weight = members[weightOf(hint)?.name ?? ''];
  return {
    isOn: true,
    weight: weight === undefined ? '' : String(weight),
    preset: preset === undefined ? '' : String(preset),
  };
}

function readMembers(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}

export const DraftContext = createContext<Draft | null>(null);

/** The form's content. */
export function useDraft(): Draft {
  const draft = useContext(DraftContext);
  if (draft === null) throw new Error('useDraft outside of the app');
  return draft;
}
