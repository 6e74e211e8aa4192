// The tasks by their wire names, and which inputs each reads: for whoever fills in a request and has no plan yet.
import { hintParams } from './structured-params.js';

/** A control hint by its wire name. */
export type HintName = keyof typeof hintParams;

/** What an input is used for: first picture, clip, a control map, actions. */
export type InputRole = 'image' | 'video' | 'action' | HintName;

/** Names of the control hints in the order of the networks. */
export const hintNames: readonly HintName[] = Object.keys(hintParams).filter(isHintName);

/** Whether a name is that of a control hint. */
export function isHintName(name: string): name is HintName {
  return Object.hasOwn(hintParams, name);
}

/** What a request of a task may hold. */
export interface TaskTraits {
  /** Inputs that it uses. */
  readonly reads: readonly InputRole[];
  /** Of each group at least one must be there. */
  readonly needs: readonly (readonly InputRole[])[];
  readonly makes: 'picture' | 'clip';
  /** Sound can be made with the result, where the model has sound. */
  readonly takesSound: boolean;
  /** It makes robot actions, or is driven by them. */
  readonly isRobot: boolean;
  /** Its canvas is one of the trained sizes, chosen by tier and by the shape of the input. */
  readonly isBucketed: boolean;
}

const clip: TaskTraits = {
  reads: [],
  needs: [],
  makes: 'clip',
  takesSound: true,
  isRobot: false,
  isBucketed: false,
};
const robot: TaskTraits = { ...clip, takesSound: false, isRobot: true, isBucketed: true };
const seen = ['image', 'video'] as const;
const controlled = ['video', ...hintNames] as const;

/** The tasks. Which of them a model can is in its description. */
export const taskTable = {
  'text-to-image': { ...clip, makes: 'picture', takesSound: false },
  'text-to-video': clip,
  'image-to-video': { ...clip, reads: ['image'], needs: [['image']] },
  'video-to-video': { ...clip, reads: ['video'], needs: [['video']] },
  transfer: { ...clip, reads: controlled, needs: [controlled], takesSound: false, isBucketed: true },
  policy: { ...robot, reads: seen, needs: [seen] },
  'forward-dynamics': { ...robot, reads: [...seen, 'action'], needs: [seen, ['action']] },
  'inverse-dynamics': { ...robot, reads: ['video'], needs: [['video']] },
} as const satisfies Readonly<Record<string, TaskTraits>>;

/** A task by its wire name. */
export type TaskName = keyof typeof taskTable;

/** The tasks' wire names. */
export const taskNames: readonly TaskName[] = Object.keys(taskTable).filter(isTaskName);

/** Whether a value is the wire name of a task. */
export function isTaskName(name: unknown): name is TaskName {
  return typeof name === 'string' && Object.hasOwn(taskTable, name);
}

/** What a task reads and makes. */
export function traitsOf(task: TaskName): TaskTraits {
  return taskTable[task];
}
