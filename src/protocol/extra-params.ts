// Extra parameters: members of `extra_params` over the wire, of `--extra-body` on the command line. They win over fields of the
// same name. Single values are here; what has an inner form is in structured-params.ts.
import Type from 'typebox';
import { flag } from './flag.js';
import { taskNames } from './task-table.js';

const words = <const Values extends string[]>(values: [...Values], description: string) =>
  Type.Optional(Type.Enum(values, { description }));

const promptParams = {
  use_resolution_template: Type.Optional(
    Type.Boolean({ description: 'Append the sentence that states the resolution to the prompt.' }),
  ),
  use_duration_template: Type.Optional(
    Type.Boolean({ description: 'Append the sentence that states duration and fps to the prompt.' }),
  ),
  negative_metadata_mode: words(
    ['none', 'same', 'inverse'],
    'How those sentences go into the negative prompt: none, same, inverse.',
  ),
  prompt_suffix: Type.Optional(Type.String({ description: 'Text appended to the formatted prompt.' })),
  guardrails: Type.Optional(Type.Boolean({ description: 'False skips the safety checks of this request.' })),
};

const samplingParams = {
  task: Type.Optional(
    Type.Enum([...taskNames], {
      ...flag('task', 'TASK'),
      description: 'What to do, where the inputs leave a choice: text-to-image, text-to-video, image-to-video, …',
    }),
  ),
  noise_index: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 99,
      description: 'Which of several pictures of one seed, from 0: picture i of a request with n.',
    }),
  ),
  skip_mode: words(['hold', 'extrapolate'], 'Velocity of skipped steps: the last one, or extrapolated from two.'),
  step_cache_threshold: Type.Optional(
    Type.Number({
      ...flag('step-cache-threshold', 'X'),
      minimum: 0,
      maximum: 100,
      description: 'Steps are skipped until what they read has changed by this much in all.',
    }),
  ),
  step_cache_warmup: Type.Optional(
    Type.Integer({
      ...flag('step-cache-warmup', 'N'),
      minimum: 0,
      maximum: 200,
      description: 'Steps at the start that a step cache never skips; a third of them where absent.',
    }),
  ),
  guidance_cache_every: Type.Optional(
    Type.Integer({
      ...flag('guidance-cache-every', 'N'),
      minimum: 1,
      maximum: 200,
      description: 'Compute guidance at every so many steps, and add in between what it last added.',
    }),
  ),
  resolution: Type.Optional(
    Type.Enum(['256', '480', '704', '720'], {
      description: 'Tier of the canvas for transfer and actions: 256, 480, 704, 720.',
    }),
  ),
  condition_video_keep: words(['first', 'last'], 'Which end of the reference clip conditions: first, last.'),
};

const transferParams = {
  control_guidance: Type.Optional(
    Type.Number({ minimum: 0, maximum: 20, description: 'Guidance of the control maps: 1 is without.' }),
  ),
  num_video_frames_per_chunk: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Frames made at a time; rounded up to 4k+1.' }),
  ),
  num_conditional_frames: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Frames that a chunk takes over from the one before.' }),
  ),
  num_first_chunk_conditional_frames: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Frames of the input video that the first chunk starts from.' }),
  ),
  max_frames: Type.Optional(Type.Integer({ minimum: 1, description: 'Most frames taken from controls and input.' })),
  show_control_condition: Type.Optional(Type.Boolean({ description: 'Show the control maps left of the result.' })),
  show_input: Type.Optional(Type.Boolean({ description: 'Show the input video left of the result.' })),
  share_vision_temporal_positions: Type.Optional(
    Type.Boolean({ description: 'Controls and target share their places on the time axis.' }),
  ),
  emphasize_control_in_prompt: Type.Optional(
    Type.Boolean({ description: 'Append the sentence that asks to follow the controls.' }),
  ),
  control_attention: words(
    ['weighted', 'joint'],
    'How several controls attend: each for itself and weighted, or all to all.',
  ),
};

const actionParams = {
  action_mode: Type.Optional(
    Type.Enum(['policy', 'forward_dynamics', 'inverse_dynamics'], {
      ...flag('action-mode', 'MODE'),
      description: 'Robot actions: policy, forward_dynamics, inverse_dynamics.',
    }),
  ),
  domain_name: Type.Optional(
    Type.String({ ...flag('domain-name', 'NAME'), description: 'Embodiment by name, as av or droid_lerobot.' }),
  ),
  domain_id: Type.Optional(Type.Integer({ minimum: 0, description: 'Embodiment by number; wins over domain_name.' })),
  raw_action_dim: Type.Optional(
    Type.Integer({ ...flag('raw-action-dim', 'N'), minimum: 1, description: 'Numbers per action.' }),
  ),
  action_chunk_size: Type.Optional(
    Type.Integer({
      ...flag('action-chunk-size', 'N'),
      minimum: 1,
      description: 'Actions in the sequence: num_frames or one less.',
    }),
  ),
  action_fps: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, description: 'Actions per second, where they differ from fps.' }),
  ),
  view_point: words(
    ['ego_view', 'third_person_view', 'wrist_view', 'concat_view'],
    'Where the camera of an action clip is: ego_view, third_person_view, wrist_view, concat_view.',
  ),
  format_prompt_as_json: Type.Optional(
    Type.Boolean({ description: 'Rewrite an action prompt as the JSON caption of the training.' }),
  ),
  actions_only: Type.Optional(Type.Boolean({ description: 'Decode no video: only the actions are wanted.' })),
};

/** Extra parameters that are one number, word, text or switch, by what they are about. */
export const extraParamGroups = {
  prompt: promptParams,
  sampling: samplingParams,
  transfer: transferParams,
  action: actionParams,
};

/** The same by their wire names. */
export const extraParams = { ...promptParams, ...samplingParams, ...transferParams, ...actionParams };
