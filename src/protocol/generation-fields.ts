// Parameters that every way of asking shares: form fields of the video routes, JSON members of the image route, flags of the
// command line. Wire words, no defaults: those depend on task and checkpoint and are the planner's.
import Type from 'typebox';
import { flag } from './flag.js';

/** Denoise steps that a request may ask for. */
export const stepLimit = 200;

/** Greatest guidance that a request may ask for. */
export const guidanceLimit = 20;

/** The fields by their wire names. */
export const generationFields = {
  prompt: Type.Optional(
    Type.String({
      ...flag('prompt', 'TEXT'),
      description: 'What to make: plain words, or a JSON object with the structured prompt.',
    }),
  ),
  negative_prompt: Type.Optional(
    Type.String({
      ...flag('negative-prompt', 'TEXT'),
      description: 'What to keep away from. Used where guidance is above 1.',
    }),
  ),
  model: Type.Optional(
    Type.String({
      ...flag('model', 'MODEL'),
      description: 'Checkpoint: a folder, a .safetensors file or a repository id.',
    }),
  ),
  size: Type.Optional(
    Type.String({
      ...flag('size', 'WxH'),
      pattern: '^[0-9]+x[0-9]+$',
      description: 'Width and height in pixels, as 1280x720. Wins over width and height.',
    }),
  ),
  width: Type.Optional(Type.Integer({ ...flag('width', 'PIXELS'), minimum: 1, description: 'Width in pixels.' })),
  height: Type.Optional(Type.Integer({ ...flag('height', 'PIXELS'), minimum: 1, description: 'Height in pixels.' })),
  aspect_ratio: Type.Optional(
    Type.String({
      ...flag('aspect-ratio', 'W:H'),
      pattern: '^ *[0-9]+ *[,:] *[0-9]+ *$',
      description: 'Aspect ratio named in the metadata of a JSON prompt, as 16:9 or 16,9.',
    }),
  ),
  num_frames: Type.Optional(
    Type.Integer({
      ...flag('num-frames', 'N'),
      minimum: 1,
      description: 'Frames of the clip; rounded up to 4k+1 except for actions.',
    }),
  ),
  seconds: Type.Optional(
    Type.Integer({
      ...flag('seconds', 'N'),
      minimum: 1,
      description: 'Length of the clip where num_frames is absent.',
    }),
  ),
  fps: Type.Optional(Type.Number({ ...flag('fps', 'N'), minimum: 1, description: 'Frames per second.' })),
  num_inference_steps: Type.Optional(
    Type.Integer({
      ...flag('num-inference-steps', 'N'),
      minimum: 1,
      maximum: stepLimit,
      description: 'Denoise steps.',
    }),
  ),
  guidance_scale: Type.Optional(
    Type.Number({
      ...flag('guidance-scale', 'G'),
      minimum: 0,
      maximum: guidanceLimit,
      description: 'Text guidance: 1 is without, 0 the same as not given.',
    }),
  ),
  flow_shift: Type.Optional(
    Type.Number({
      ...flag('flow-shift', 'S'),
      exclusiveMinimum: 0,
      description: 'Shift of the noise levels towards the noisy end.',
    }),
  ),
  seed: Type.Optional(
    Type.Integer({
      ...flag('seed', 'N'),
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Seed of the noise; drawn and reported when not given.',
    }),
  ),
  generate_sound: Type.Optional(Type.Boolean({ ...flag('sound'), description: 'Make sound with the clip.' })),
  sound_duration: Type.Optional(
    Type.Number({
      ...flag('sound-duration', 'SECONDS'),
      exclusiveMinimum: 0,
      description: 'Seconds of sound where they differ from the clip.',
    }),
  ),
  system_prompt: Type.Optional(
    Type.String({ ...flag('system-prompt', 'TEXT'), description: 'System message instead of the trained one.' }),
  ),
  use_system_prompt: Type.Optional(Type.Boolean({ description: 'Whether the prompt starts with a system message.' })),
  max_sequence_length: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 262_144, description: 'Text tokens kept of a long prompt.' }),
  ),
};
