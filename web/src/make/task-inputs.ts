// Which inputs each task takes, and which task follows from the inputs that are there. Tasks and roles are the protocol's.
import {
  type HintName,
  hintNames,
  isHintName as isHint,
  isTaskName as isTask,
  type InputRole as Role,
  type TaskName as Task,
  traitsOf,
} from '../../../src/protocol/index.js';

export { type HintName, hintNames, isHint, isTask, type Role, type Task };

/** Whether a task makes robot actions or is driven by them. */
export function isActionTask(task: Task): boolean {
  return traitsOf(task).isRobot;
}

/** Roles of the inputs that a task uses. */
export function rolesOf(task: Task): readonly Role[] {
  return traitsOf(task).reads;
}

/** What a task needs and does not have yet; null when nothing is missing. */
export function missingInput(task: Task, roles: readonly Role[]): 'image' | 'video' | 'either' | 'action' | null {
  const group = traitsOf(task).needs.find((wanted) => !wanted.some((role) => roles.includes(role)));
  if (group === undefined) return null;
  if (group.includes('action')) return 'action';
  if (group.includes('image')) return group.includes('video') ? 'either' : 'image';
  return 'video';
}

/** The task that goes with the inputs: the present one where it uses them all, else the one that they imply. */
export function taskFor(roles: readonly Role[], present: Task): Task {
  const { isRobot, reads, needs } = traitsOf(present);
  // A clip that began with an input begins with words alone when the input is gone.
  if (roles.length === 0) return needs.length > 0 && !isRobot && !reads.some(isHint) ? 'text-to-video' : present;
  if (roles.every((role) => reads.includes(role))) return present;
  if (roles.some(isHint)) return 'transfer';
  if (roles.includes('action')) return 'forward-dynamics';
  if (isRobot) return roles.includes('video') ? 'inverse-dynamics' : 'policy';
  return roles.includes('video') ? 'video-to-video' : 'image-to-video';
}

/** What people call the maps in names of files, besides the hint's own name. */
const otherWords: Readonly<Partial<Record<HintName, readonly string[]>>> = {
  edge: ['edges', 'canny'],
  blur: ['blurred'],
  seg: ['segmentation', 'mask'],
  wsm: ['scenario'],
};

/** A hint whose name is a word of a file's name, as `street-depth.mp4`. */
function hintInName(fileName: string): HintName | undefined {
  const words = fileName.toLowerCase().split(/[^a-z]+/);
  return hintNames.find((hint) => [hint, ...(otherWords[hint] ?? [])].some((word) => words.includes(word)));
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
  const [firstHint] = hintNames;
  if (!rolesOf(task).some(isHint) || firstHint === undefined) return file.kind;
  if (file.kind === 'video' && !taken.includes('video')) return 'video';
  return hintNames.find((name) => !taken.includes(name)) ?? firstHint;
}
