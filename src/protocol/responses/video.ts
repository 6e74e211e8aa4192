// Replies of the video routes.
import Type, { type Static } from 'typebox';
import { flagSwitch, list, numberOrNull, textOrNull, valueOrNull } from './nullable.js';

/** Why a job failed, as its record says. `code` is an HTTP status. */
export const JobFailure = Type.Object({
  code: Type.Integer({ minimum: 400, maximum: 599, description: 'HTTP status that the failure means.' }),
  message: Type.String(),
  reason: Type.String({ description: 'Coded error, as invalid_value or internal_error.' }),
  param: textOrNull('Field at fault, where there is one.'),
  crashes: list(Type.String(), 'How the device process died under the job, once for each time.'),
});

/** Predicted, recovered or given robot actions. */
export const ActionPayload = Type.Object({
  data: list(list(Type.Number(), 'One step.'), 'Rows, [steps][numbers].'),
  shape: list(Type.Integer({ minimum: 0 }), 'Steps and numbers per step.'),
  dtype: Type.String({ description: 'Always float32.' }),
  raw_action_dim: Type.Integer({ minimum: 1 }),
  action_mode: Type.String(),
  domain_id: Type.Integer({ minimum: 0 }),
});

/** What a job's files are called, what was asked for first. */
export const artifactVariants = [
  'video',
  'image',
  'sound',
  'action',
  'control_edge',
  'control_blur',
  'thumbnail',
  'latents',
] as const;

/** One of the files that a job made. */
export const ArtifactInfo = Type.Object({
  variant: Type.Enum([...artifactVariants], {
    description: 'control_…: the control map that was made from the input clip.',
  }),
  media_type: Type.String(),
  bytes: Type.Integer({ minimum: 0 }),
  sha256: Type.String(),
  url: Type.String({ description: 'Address of the content, with a short-lived token where keys are required.' }),
});

/** Where a running job is. */
export const ProgressInfo = Type.Object({
  phase: Type.Enum(['load', 'text', 'encode', 'denoise', 'decode', 'write']),
  step: Type.Integer({ minimum: 0 }),
  steps: Type.Integer({ minimum: 0 }),
  chunk: Type.Integer({ minimum: 0 }),
  chunks: Type.Integer({ minimum: 1 }),
  fraction: Type.Number({ minimum: 0, maximum: 1 }),
  seconds_left: numberOrNull('Until the job is done; null while nothing is known of its shape.'),
});

/** State of a video job. */
export const VideoJob = Type.Object({
  id: Type.String({ description: 'video_gen_ and 32 hexadecimal digits.' }),
  object: Type.Literal('video'),
  model: Type.String(),
  prompt: Type.String(),
  status: Type.Enum(['queued', 'in_progress', 'completed', 'failed', 'cancelled']),
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Per cent.' }),
  created_at: Type.Integer({ description: 'Unix seconds.' }),
  completed_at: valueOrNull(Type.Integer(), 'Unix seconds.'),
  expires_at: valueOrNull(Type.Integer(), 'Unix seconds; null where results are kept for ever.'),
  size: textOrNull('As the request had it.'),
  seconds: Type.String({ description: 'As the request had it, else 4.' }),
  quality: Type.String(),
  remixed_from_video_id: Type.Null(),
  error: valueOrNull(JobFailure, 'Why it failed.'),
  media_type: Type.String(),
  file_name: textOrNull('Name of the downloaded file, once there is one.'),
  inference_time_s: numberOrNull('Seconds from the last start to the end.'),
  stage_durations: Type.Record(Type.String(), Type.Number(), { description: 'Seconds by phase.' }),
  peak_memory_mb: Type.Number({ minimum: 0 }),
  action: valueOrNull(ActionPayload, 'Robot actions, where the job made some.'),
  fps: numberOrNull('Frames per second of the clip.'),
  num_frames: valueOrNull(Type.Integer(), 'Frames of the clip.'),
  duration_s: numberOrNull('Seconds of the clip.'),
  metrics: valueOrNull(Type.Record(Type.String(), Type.Unknown()), 'With return_stage_metrics: timings and attempts.'),
  queue_place: valueOrNull(Type.Integer({ minimum: 1 }), 'Place in the queue, 1 is next; null once it runs.'),
  progress_detail: valueOrNull(ProgressInfo, 'Phase and step while it runs.'),
  seed: valueOrNull(Type.Integer(), 'Seed of the noise, drawn or given.'),
  warnings: list(
    Type.Object({ param: Type.String(), message: Type.String() }),
    'What was dropped, cut or rounded of the request.',
  ),
  attempts: Type.Integer({ minimum: 0, description: 'Times it was started.' }),
  artifacts: list(ArtifactInfo, 'Files that can be fetched.'),
});
export type VideoJob = Static<typeof VideoJob>;

/** A page of jobs. */
export const VideoList = Type.Object({
  object: Type.Literal('list'),
  data: list(VideoJob, 'Jobs of this page.'),
  first_id: textOrNull('Of this page.'),
  last_id: textOrNull('Of this page; give it as after for the next.'),
  has_more: flagSwitch('More follow.'),
});
export type VideoList = Static<typeof VideoList>;

/** Reply to a deletion. */
export const VideoDeleted = Type.Object({
  id: Type.String(),
  object: Type.Literal('video.deleted'),
  deleted: Type.Literal(true),
});
export type VideoDeleted = Static<typeof VideoDeleted>;
