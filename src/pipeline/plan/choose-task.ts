// What a request asks for: the task it names, or the one its inputs imply. Source: api spec, 2.3.
import type { CheckpointFacts, Facts } from '../facts.js';
import type { GenerationRequest, Task } from '../request.js';
import { refuse } from './ranges.js';

const actionTasks: readonly Task[] = ['policy', 'forward-dynamics', 'inverse-dynamics'];

export function isActionTask(task: Task): boolean {
  return actionTasks.includes(task);
}

/**
 * Settles the task.
 * @throws RequestError when parts of the request exclude each other, an input is missing, or the checkpoint cannot do it
 */
export function chooseTask(request: GenerationRequest, facts: Facts): Task {
  refuseConflicts(request, facts);
  const task = request.task ?? impliedTask(request, facts);
  requireInputs(task, facts);
  refuseUnsupported(task, request.sound ?? false, facts.checkpoint);
  return task;
}

function impliedTask({ transfer, action }: GenerationRequest, { image, video }: Facts): Task {
  if (action)
    refuse(
      'missing_parameter',
      'action_mode',
      'action parameters were given without an action mode; set action_mode to policy, forward_dynamics or inverse_dynamics, or drop them',
    );
  if (transfer) return 'transfer';
  if (video) return 'video-to-video';
  return image ? 'image-to-video' : 'text-to-video';
}

function refuseConflicts({ task, transfer, action, sound }: GenerationRequest, { image, video }: Facts): void {
  const isImage = task === 'text-to-image';
  const isAction = action !== undefined || (task !== undefined && isActionTask(task));
  const conflict = (param: string, message: string, remedy: string) =>
    refuse('conflict', param, `${message} ${remedy}`);
  if (transfer || task === 'transfer') {
    if (!transfer?.hints.length)
      conflict(
        'edge',
        'Cosmos3 transfer options were provided, but no transfer hint was selected.',
        'Give edge, blur, depth, seg or wsm, or drop the options',
      );
    if (isImage)
      conflict(
        'task',
        'Cosmos3 transfer inference is supported only for video outputs.',
        'Ask for a video, or drop the hints',
      );
    if (isAction)
      conflict(
        'action_mode',
        'Cosmos3 transfer inference cannot be combined with action generation.',
        'Drop one of the two',
      );
    if (sound)
      conflict(
        'generate_sound',
        'Cosmos3 transfer inference cannot be combined with sound generation.',
        'Drop one of the two',
      );
    if (task !== undefined && task !== 'transfer')
      conflict('task', `Transfer hints were given, but the task is ${task}.`, 'Drop one of the two');
  }
  if (isAction && isImage)
    conflict(
      'task',
      'Cosmos3 action generation is supported only for video outputs.',
      'Ask for a video, or drop the action',
    );
  if (isAction && sound)
    conflict(
      'generate_sound',
      'Cosmos3 action and sound joint generation is not supported in this phase.',
      'Drop one of the two',
    );
  if (isAction && task !== undefined && !isActionTask(task))
    conflict('task', `Action parameters were given, but the task is ${task}.`, 'Drop one of the two');
  if (sound && isImage)
    conflict(
      'generate_sound',
      'Cosmos3 sound generation is supported only for video outputs in this phase; text-to-image with sound is unsupported.',
      'Ask for a video, or drop the sound',
    );
  if (image && video && !isAction)
    conflict(
      'image',
      'Cosmos3 non-action generation accepts either image or video input, not both.',
      'Drop one of the two',
    );
  if (transfer && image)
    conflict(
      'image',
      'Cosmos3 transfer inference accepts video inputs or control_path values, not images.',
      'Give the picture as a video, or drop it',
    );
}

function requireInputs(task: Task, { image, video }: Facts): void {
  const missing = (param: string, what: string) =>
    refuse('missing_parameter', param, `${task} needs ${what}, but none was given; add it, or choose another task`);
  const unused = (param: string, what: string) =>
    refuse(
      'conflict',
      param,
      `${task} takes no ${what}, but one was given; drop it, or leave the task out to have it used`,
    );
  switch (task) {
    case 'text-to-image':
    case 'transfer':
      return;
    case 'text-to-video':
      if (image) unused('image', 'image');
      if (video) unused('video', 'video');
      return;
    case 'image-to-video':
      if (video) unused('video', 'video');
      if (!image) missing('image', 'an image');
      return;
    case 'video-to-video':
      if (image) unused('image', 'image');
      if (!video) missing('video', 'a video');
      return;
    case 'policy':
    case 'forward-dynamics':
      if (!image && !video) missing('image', 'an image or a video');
      return;
    case 'inverse-dynamics':
      if (!video) missing('video', 'a video');
      return;
    default:
      task satisfies never;
  }
}

function refuseUnsupported(task: Task, sound: boolean, checkpoint: CheckpointFacts): void {
  const unsupported = (param: string, message: string) =>
    refuse('unsupported', param, `${message} (checkpoint ${checkpoint.id}); use another checkpoint, or another task`);
  if (checkpoint.family === 'edge') {
    if (sound) unsupported('generate_sound', 'Cosmos3 Edge checkpoints do not support sound generation.');
    if (task === 'transfer') unsupported('task', 'Cosmos3 Edge checkpoints do not support transfer inference.');
    if (task === 'video-to-video')
      unsupported('task', 'Cosmos3 Edge checkpoints do not support video-to-video generation.');
  }
  if (checkpoint.distilledSigmas) {
    const only =
      'Cosmos3 distilled checkpoints support only text-to-image, text-to-video and image-to-video generation;';
    if (isActionTask(task)) unsupported('task', `${only} action requests are unsupported.`);
    if (task === 'transfer') unsupported('task', `${only} transfer requests are unsupported.`);
    if (task === 'video-to-video') unsupported('task', `${only} video-to-video requests are unsupported.`);
    if (sound) unsupported('generate_sound', `${only} sound generation is unsupported.`);
  }
  if (sound && !(checkpoint.hasSound && checkpoint.sound))
    unsupported('generate_sound', 'This checkpoint has no sound networks.');
  if (isActionTask(task) && checkpoint.actionDim === null)
    unsupported('action_mode', 'This checkpoint has no action networks.');
}
