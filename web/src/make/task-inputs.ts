// Which inputs each task takes, and which task follows from the inputs that are there.
import { hintParams } from '../../../src/protocol/index.js';

/** What an input is used for: first picture, clip, a control map, actions. */
export type Role = 'image' | 'video' | 'action' | HintName;

export type HintName = keyof typeof hintParams;

export const tasks = [
  'text-to-image',
  'text-to-video',
  'image-to-video',
  'video-to-video',
  'transfer',
  'policy',
  'forward-dynamics',
  'inverse-dynamics',
] as const;

/** A task by its wire name. */
export type Task = (typeof tasks)[number];

/** Names of the control hints in the order of the networks. */
export function hintNames(): readonly HintName[] {
  return Object.keys(hintParams).filter(isHint);
}

export function isHint(name: string): name is HintName {
  return Object.hasOwn(hintParams, name);
}

export function isTask(name: unknown): name is Task {
  return tasks.some((task) => task === name);
}

/** Whether a task makes robot actions or is driven by them. */
export function isActionTask(task: Task): boolean {
  return task === 'policy' || task === 'forward-dynamics' || task === 'inverse-dynamics';
}

/** Roles of the inputs that a task uses. */
export function rolesOf(task: Task): readonly Role[] {
  switch (task) {
    case 'text-to-image':
    case 'text-to-video':
      return [];
    case 'image-to-video':
      return ['image'];
    case 'video-to-video':
    case 'inverse-dynamics':
      return ['video'];
    case 'transfer':
      return ['video', ...hintNames()];
    case 'policy':
      return ['image', 'video'];
    case 'forward-dynamics':
      return ['image', 'video', 'action'];
    default:
      return task satisfies never;
  }
}

/** What a task needs and does not have yet; null when nothing is missing. */
export function missingInput(task: Task, roles: readonly Role[]): 'image' | 'video' | 'either' | 'action' | null {
  const has = (role: Role) => roles.includes(role);
  switch (task) {
    case 'image-to-video':
      return has('image') ? null : 'image';
    case 'video-to-video':
    case 'inverse-dynamics':
      return has('video') ? null : 'video';
    case 'transfer':
      return has('video') || roles.some(isHint) ? null : 'video';
    case 'policy':
      return has('image') || has('video') ? null : 'either';
    case 'forward-dynamics':
      if (!has('image') && !has('video')) return 'either';
      return has('action') ? null : 'action';
    case 'text-to-image':
    case 'text-to-video':
      return null;
    default:
      return task satisfies never;
  }
}

/** The task that goes with the inputs: the present one where it uses them all, else the one that they imply. */
export function taskFor(roles: readonly Role[], present: Task): Task {
  if (roles.length === 0) {
    return present === 'image-to-video' || present === 'video-to-video' ? 'text-to-video' : present;
  }
  const used = rolesOf(present);
  if (roles.every((role) => used.includes(role))) return present;
  if (roles.some(isHint)) return 'transfer';
  if (roles.includes('action')) return 'forward-dynamics';
  if (isActionTask(present)) return roles.includes('video') ? 'inverse-dynamics' : 'policy';
  return roles.includes('video') ? 'video-to-video' : 'image-to-video';
}

/** A hint whose name is a word of a file's name, as `street-depth.mp4`. */
function hintInName(fileName: string): HintName | undefined {
  const words = fileName.toLowerCase().split(/[^a-z]+/);
  const spellings: Readonly<Record<HintName, readonly string[]>> = {
    edge: ['edge', 'edges', 'canny'],
    blur: ['blur', 'blurred'],
    depth: ['depth'],
    seg: ['seg', 'segmentation', 'mask'],
    wsm: ['wsm', 'scenario'],
  };
  return hintNames().find((hint) => spellings[hint].some((word) => words.includes(word)));
}

/**
 * What a dropped picture or clip is for.
 * @param taken roles of the inputs that are there
 */
export function roleFor(
  file: { readonly name: string; readonly kind: 'image' | 'video' },
  task: Task,
  taken: readonly Role[],
): Role {
  const hint = hintInName(file.name);
  if (hint && !isActionTask(task)) return hint;
  if (task === 'transfer') {
    if (file.kind === 'video' && !taken.includes('video')) return 'video';
    return hintNames().find((name) => !taken.includes(name)) ?? 'edge';
  }
  return file.kind;
}
