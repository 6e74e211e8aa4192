// Jobs of every kind, pictures and clips alike: what a gallery shows and what it takes to ask for the same again.
import Type, { type Static } from 'typebox';
import { flagSwitch, list, numberOrNull, textOrNull, valueOrNull } from './nullable.js';
import { ActionPayload, ArtifactInfo, JobFailure, ProgressInfo } from './video.js';

/** A picture, clip or control map that a job reads. */
export const JobInputInfo = Type.Object({
  role: Type.String({ description: 'image, video, or the name of a control hint.' }),
  file_id: Type.String({ description: 'Names the file in a further request.' }),
  media_type: Type.String(),
  bytes: Type.Integer({ minimum: 0 }),
  url: Type.String({ description: 'Address of the content, with a short-lived token where keys are required.' }),
});
export type JobInputInfo = Static<typeof JobInputInfo>;

const integerOrNull = (description: string) => valueOrNull(Type.Integer(), description);

/** A job: what was asked, what was settled, how it goes, what it made. */
export const Job = Type.Object({
  id: Type.String(),
  object: Type.Literal('job'),
  kind: Type.String({ description: 'video or image.' }),
  model: Type.String(),
  task: textOrNull('As text-to-image; null until it has a plan.'),
  prompt: Type.String(),
  negative_prompt: textOrNull('Where the request has one.'),
  status: Type.Enum(['queued', 'in_progress', 'completed', 'failed', 'cancelled']),
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Per cent.' }),
  progress_detail: valueOrNull(ProgressInfo, 'Phase and step while it runs.'),
  queue_place: integerOrNull('Place in the queue, 1 is next; null once it runs.'),
  created_at: Type.Integer({ description: 'Unix seconds.' }),
  started_at: integerOrNull('Unix seconds.'),
  completed_at: integerOrNull('Unix seconds.'),
  expires_at: integerOrNull('Unix seconds; null where results are kept for ever.'),
  width: integerOrNull('Of the result.'),
  height: integerOrNull('Of the result.'),
  num_frames: integerOrNull('Of the result.'),
  fps: numberOrNull('Of the result.'),
  duration_s: numberOrNull('Seconds of the clip.'),
  seed: integerOrNull('Seed of the noise, drawn or given.'),
  num_inference_steps: integerOrNull('Denoise steps.'),
  computed_steps: integerOrNull('Denoise steps that were computed, over all chunks: skipped ones took no work.'),
  guidance_scale: numberOrNull('Text guidance.'),
  flow_shift: numberOrNull('Shift of the noise levels; null for fixed steps.'),
  has_sound: flagSwitch('It makes sound.'),
  has_action: flagSwitch('It has robot actions.'),
  error: valueOrNull(JobFailure, 'Why it failed.'),
  warnings: list(Type.Object({ param: Type.String(), message: Type.String() }), 'What was dropped, cut or rounded.'),
  attempts: Type.Integer({ minimum: 0, description: 'Times it was started.' }),
  inference_time_s: numberOrNull('Seconds from the last start to the end.'),
  stage_durations: Type.Record(Type.String(), Type.Number(), { description: 'Seconds by phase.' }),
  peak_memory_mb: Type.Number({ minimum: 0 }),
  action: valueOrNull(ActionPayload, 'Robot actions; null in lists.'),
  artifacts: list(ArtifactInfo, 'Files that can be fetched.'),
  thumbnail_url: textOrNull('A small picture of the result.'),
  inputs: list(JobInputInfo, 'What went in.'),
  request: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The body that asks for the same again; inputs stand in it by file_id.',
  }),
});
export type Job = Static<typeof Job>;

/** A page of jobs. */
export const JobList = Type.Object({
  object: Type.Literal('list'),
  data: list(Job, 'Jobs of this page.'),
  first_id: textOrNull('Of this page.'),
  last_id: textOrNull('Of this page; give it as after for the next.'),
  has_more: flagSwitch('More follow.'),
  total: Type.Integer({ minimum: 0, description: 'Jobs that match, on all pages.' }),
});
export type JobList = Static<typeof JobList>;

/** Reply to a deletion. */
export const JobDeleted = Type.Object({
  id: Type.String(),
  object: Type.Literal('job.deleted'),
  deleted: Type.Literal(true),
});
export type JobDeleted = Static<typeof JobDeleted>;

/** A file that was received once and can be named in requests. */
export const Upload = Type.Object({
  object: Type.Literal('upload'),
  file_id: Type.String({ description: 'Names the file in requests.' }),
  kind: Type.Enum(['image', 'video']),
  media_type: Type.String(),
  bytes: Type.Integer({ minimum: 0 }),
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  frames: integerOrNull('Frames of a clip, where its container tells.'),
  fps: numberOrNull('Of a clip.'),
  expires_at: Type.Integer({ description: 'Unix seconds; a job that reads the file keeps it longer.' }),
});
export type Upload = Static<typeof Upload>;
