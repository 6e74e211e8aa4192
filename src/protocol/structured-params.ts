// Extra parameters with an inner form: intervals, index lists, control hints, action arrays. The door reads them by hand, since
// each accepts several spellings; the schemas here document and describe them.
import Type from 'typebox';
import { flag } from './flag.js';

const interval = (description: string) =>
  Type.Optional(
    Type.Unsafe<unknown>({
      anyOf: [
        { type: 'array', items: { type: 'number', minimum: 0, maximum: 1000 }, minItems: 2, maxItems: 2 },
        { type: 'string', pattern: '^[^,]+,[^,]+$' },
      ],
      description,
    }),
  );

const indexes = (description: string) =>
  Type.Optional(
    Type.Unsafe<unknown>({
      anyOf: [
        { type: 'integer', minimum: 0 },
        { type: 'string', pattern: '^ *[0-9]+( *, *[0-9]+)* *$' },
        { type: 'array', items: { type: 'integer', minimum: 0 } },
      ],
      description,
    }),
  );

/** Members that an object given for a hint may have; `preset` names the one that this hint has besides. */
const hint = (name: string, description: string, preset?: string) =>
  Type.Optional(
    Type.Unsafe<unknown>({
      ...flag(name, 'FILE', preset !== undefined),
      anyOf: [
        { const: true },
        { type: 'string', minLength: 1 },
        {
          type: 'object',
          properties: {
            control_path: { type: 'string' },
            control: { type: 'array' },
            control_weight: { type: 'number', minimum: 0 },
            ...(preset === undefined
              ? {}
              : { [preset]: { enum: ['none', 'very_low', 'low', 'medium', 'high', 'very_high'] } }),
          },
          additionalProperties: false,
        },
      ],
      description,
    }),
  );

const rows = { type: 'array', items: { type: 'array', items: { type: 'number' } } };

/** Control hints by their wire names, in the order the networks were trained with. */
export const hintParams = {
  edge: hint('edge', 'Edges to follow: a map, or made from the input video.', 'preset_edge_threshold'),
  blur: hint('blur', 'Blurred picture to follow: a map, or made from the input video.', 'preset_blur_strength'),
  depth: hint('depth', 'Depth map to follow.'),
  seg: hint('seg', 'Segmentation map to follow.'),
  wsm: hint('wsm', 'World scenario map to follow.'),
};

/** Extra parameters with an inner form, by their wire names. */
export const structuredParams = {
  guidance_interval: interval('Timesteps, 0 to 1000, at which text guidance is on: [low, high], both included.'),
  control_guidance_interval: interval('Timesteps at which control guidance is on: [low, high], both included.'),
  condition_frame_indexes_vision: indexes('Latent frames that the reference clip fixes: 0, "0,1" or [0, 1].'),
  skip_steps: indexes('Denoise steps, from 0, that reuse a velocity instead of running the network.'),
  step_cache: Type.Optional(
    Type.Unsafe<unknown>({
      ...flag('step-cache', 'KIND'),
      anyOf: [
        { enum: ['none', 'teacache', 'seacache', 'tea_cache', 'sea_cache'] },
        { type: 'string', pattern: '^ *[{]' },
        {
          type: 'object',
          properties: {
            kind: { enum: ['none', 'teacache', 'seacache', 'tea_cache', 'sea_cache'] },
            threshold: { type: 'number', minimum: 0 },
            warmup_steps: { type: 'integer', minimum: 0 },
            max_consecutive: { type: 'integer', minimum: 1 },
            residual_order: { enum: [0, 1] },
            power_exp: { type: 'number' },
            coefficients: { type: 'array', items: { type: 'number' } },
          },
          required: ['kind'],
        },
      ],
      description: 'Skip steps at which little has changed: teacache, seacache, none, or an object with settings.',
    }),
  ),
  ...hintParams,
  action: Type.Optional(
    Type.Unsafe<unknown>({
      ...flag('action', 'FILE'),
      anyOf: [rows, { type: 'array', items: rows, minItems: 1, maxItems: 1 }],
      description: 'Actions [steps][numbers] for forward_dynamics; a file holds them as JSON.',
    }),
  ),
  action_history: Type.Optional(
    Type.Unsafe<unknown>({
      anyOf: [rows],
      description: 'Known rows before the first predicted action: clean, and dropped from the result.',
    }),
  ),
  video_codec_options: Type.Optional(
    Type.Unsafe<unknown>({
      type: 'object',
      additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      description: 'Options of the H.264 encoder, as {"crf": 23, "preset": "medium"}.',
    }),
  ),
  modalities: Type.Optional(
    Type.Unsafe<unknown>({
      anyOf: [{ type: 'array', items: { enum: ['image', 'video', 'text', 'audio'] } }, { type: 'string' }],
      description: 'What to make: image or video.',
    }),
  ),
};
