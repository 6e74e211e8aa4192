// Reply of the plan door: what a request would become, and what it would cost, without making a job of it.
import Type, { type Static } from 'typebox';
import { flagSwitch, list, numberOrNull, valueOrNull } from './nullable.js';

const count = (description: string) => Type.Integer({ minimum: 0, description });

/** A settled request with its cost. */
export const PlanReply = Type.Object({
  object: Type.Literal('plan'),
  task: Type.String(),
  width: Type.Integer({ description: 'Of the result.' }),
  height: Type.Integer({ description: 'Of the result.' }),
  canvas_width: Type.Integer({ description: 'That the networks work on.' }),
  canvas_height: Type.Integer({ description: 'That the networks work on.' }),
  num_frames: Type.Integer(),
  fps: Type.Number(),
  duration_s: Type.Number(),
  num_inference_steps: Type.Integer(),
  guidance_scale: Type.Number(),
  flow_shift: numberOrNull('Null where the checkpoint has fixed steps.'),
  seed: Type.Integer({ description: 'Drawn for this reply where the request has none.' }),
  sound: valueOrNull(Type.Object({ duration_s: Type.Number(), samples: Type.Integer() }), 'Null for a silent result.'),
  action: valueOrNull(
    Type.Object({
      mode: Type.String(),
      domain_id: Type.Integer(),
      rows: Type.Integer(),
      raw_action_dim: Type.Integer(),
    }),
    'Null without robot actions.',
  ),
  transfer: valueOrNull(
    Type.Object({
      hints: list(Type.String(), 'Control maps in order.'),
      chunks: Type.Integer(),
      chunk_frames: Type.Integer(),
    }),
    'Null without control maps.',
  ),
  prompt: Type.Object({ tokens: count('Of the text.'), truncated: flagSwitch('The text was cut.') }),
  tokens: Type.Object({
    text: count('Prompt.'),
    negative_text: count('Negative prompt.'),
    vision: count('Frames of one run of the loop.'),
    controls: count('Control maps.'),
    sound: count('Sound.'),
    action: count('Actions.'),
    total: count('All that is denoised or attended to in one pass.'),
  }),
  chunks: Type.Integer({ description: 'Runs of the denoise loop.' }),
  passes: Type.Integer({ description: 'Passes through the network.' }),
  flops: Type.Number({ description: 'Floating-point operations.' }),
  memory_bytes: Type.Number({ description: 'Peak, weights included.' }),
  memory_available_bytes: numberOrNull('Of the device; null while a GPU is being opened.'),
  seconds: numberOrNull('Once it runs; null while nothing has run yet.'),
  seconds_basis: valueOrNull(
    Type.Enum(['measured', 'scaled']),
    'measured: the last run of this shape; scaled: from another run by the operations.',
  ),
  queue_seconds: numberOrNull('Until it would start; null while unknown.'),
  inputs: list(
    Type.Object({
      role: Type.String(),
      width: Type.Integer(),
      height: Type.Integer(),
      frames: Type.Integer(),
    }),
    'What goes in.',
  ),
  warnings: list(Type.Object({ param: Type.String(), message: Type.String() }), 'What was dropped, cut or rounded.'),
  hash: Type.String({ description: 'Equal plans have equal hashes.' }),
});
export type PlanReply = Static<typeof PlanReply>;
