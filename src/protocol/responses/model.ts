// Replies that describe the server: its model, its health, its version.
import Type, { type Static } from 'typebox';
import { flagSwitch, list, textOrNull, valueOrNull } from './nullable.js';

/** What one task does where a request is silent. */
export const TaskCard = Type.Object({
  task: Type.String(),
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  num_frames: Type.Integer({ minimum: 1 }),
  fps: Type.Number(),
  num_inference_steps: Type.Integer({ minimum: 1 }),
  guidance_scale: Type.Number(),
  flow_shift: Type.Number(),
  guidance_interval: valueOrNull(list(Type.Number(), 'Low and high.'), 'Timesteps with text guidance; null for all.'),
});

const modelFields = {
  id: Type.String(),
  object: Type.Literal('model'),
  created: Type.Integer(),
  owned_by: Type.String(),
  root: Type.String({ description: 'Folder, file or repository of the checkpoint.' }),
  parent: Type.Null(),
  max_model_len: Type.Null(),
  permission: list(Type.Record(Type.String(), Type.Unknown()), 'Kept for clients that look for it.'),
};

/** A served model, in short. */
export const ModelCard = Type.Object(modelFields);
export type ModelCard = Static<typeof ModelCard>;

/** A served model with what it can do. */
export const ModelDetails = Type.Object({
  ...modelFields,
  family: Type.String(),
  device: Type.String(),
  tasks: list(TaskCard, 'Tasks with their defaults.'),
  limits: Type.Object({
    max_pixels: Type.Integer(),
    max_steps: Type.Integer(),
    max_guidance: Type.Number(),
    max_upload_bytes: Type.Integer(),
    max_queue: Type.Integer(),
    size_multiple: Type.Integer({ description: 'Sides are multiples of this.' }),
  }),
  resolutions: Type.Record(Type.String(), list(Type.String(), 'WIDTHxHEIGHT.'), {
    description: 'Trained sizes by tier.',
  }),
  sound: flagSwitch('It can make sound.'),
  actions: valueOrNull(
    Type.Object({
      max_dim: Type.Integer(),
      domains: list(
        Type.Object({
          id: Type.Integer(),
          names: list(Type.String(), 'Names.'),
          raw_dims: list(Type.Integer(), 'Usual.'),
        }),
        'Embodiments.',
      ),
    }),
    'Robot actions; null where it makes none.',
  ),
  guardrails: Type.Object({
    enabled: Type.Boolean(),
    prompt: list(Type.String(), 'What checks prompts.'),
    frames: list(Type.String(), 'What checks pictures.'),
  }),
  policy_server: valueOrNull(Type.Record(Type.String(), Type.Unknown()), 'Configuration of the robot policy socket.'),
});
export type ModelDetails = Static<typeof ModelDetails>;

/** All served models. */
export const ModelList = Type.Object({ object: Type.Literal('list'), data: list(ModelCard, 'One for each name.') });
export type ModelList = Static<typeof ModelList>;

/** Reply of `GET /health`. */
export const Health = Type.Object({
  status: Type.Enum(['healthy', 'unhealthy']),
  reason: Type.Optional(Type.String()),
});
export type Health = Static<typeof Health>;

/** Reply of `GET /ready`. */
export const Readiness = Type.Object({
  ready: Type.Boolean(),
  reason: textOrNull('Why not.'),
  workers: list(
    Type.Object({
      device: Type.String(),
      status: Type.String(),
      restarts: Type.Integer(),
      last_crash: textOrNull('How it died last.'),
    }),
    'Device processes.',
  ),
  queue: Type.Object({ queued: Type.Integer(), in_progress: Type.Integer() }),
});
export type Readiness = Static<typeof Readiness>;

/** Reply of `GET /version`. */
export const Version = Type.Object({ version: Type.String() });
