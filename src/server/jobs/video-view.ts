// A job's record as clients see it.
import { Value } from 'typebox/value';
import type { ArtifactRecord, JobRecord, JsonObject, JsonValue } from '../../engine/jobs/types.js';
import { ActionPayload, type VideoJob } from '../../protocol/index.js';
import { isRecord } from '../bodies/json-text.js';
import { robotAction } from '../policy/action-space.js';
import { describeJobError } from '../respond.js';

/** What a view needs besides the record. */
export interface ViewContext {
  readonly modelName: string;
  readonly place: number | null;
  /** Address of an artifact's content. */
  readonly contentUrl: (jobId: string, artifact: ArtifactRecord) => string;
}

/** The record of a video job, in the form of the OpenAI interface and beyond. */
export function viewVideo(record: JobRecord, { modelName, place, contentUrl }: ViewContext): VideoJob {
  const { request, status, timings, progress, result, artifacts } = record;
  const { prompt, model, size, seconds, return_stage_metrics: wantsMetrics } = { ...request.fields, ...request.extra };
  const isOver = status === 'completed' || status === 'failed' || status === 'cancelled';
  const video = artifacts.find(({ variant }) => variant === 'video');
  const frames = numberOf(result, 'frames');
  const fps = numberOf(result, 'fps');
  return {
    id: record.id,
    object: 'video',
    model: typeof model === 'string' ? model : modelName,
    prompt: typeof prompt === 'string' ? prompt : '',
    status,
    progress: status === 'completed' ? 100 : Math.min(99, Math.floor((progress?.fraction ?? 0) * 100)),
    created_at: unixSeconds(record.createdAt),
    completed_at: record.completedAt === null ? null : unixSeconds(record.completedAt),
    expires_at: record.expiresAt === null ? null : unixSeconds(record.expiresAt),
    size: typeof size === 'string' ? size : null,
    seconds: seconds === undefined || seconds === null ? '4' : String(seconds),
    quality: 'default',
    remixed_from_video_id: null,
    error: viewError(record),
    media_type: video?.mediaType ?? 'video/mp4',
    file_name: video ? `${record.id}.mp4` : null,
    inference_time_s: isOver && record.startedAt !== null ? rounded(timings?.total ?? 0) : null,
    stage_durations: Object.fromEntries(
      Object.entries(timings?.phases ?? {}).map(([name, time]) => [name, rounded(time)]),
    ),
    peak_memory_mb: rounded(timings?.peakMemoryMb ?? 0),
    action: viewAction(record),
    fps,
    num_frames: frames,
    duration_s: frames === null || fps === null || fps === 0 ? null : rounded(frames / fps),
    metrics: wantsMetrics === true && timings ? { ...timings, attempts: record.attempts } : null,
    queue_place: place,
    progress_detail: status !== 'in_progress' || progress === null ? null : viewProgress(progress),
    seed: numberOf(result, 'seed'),
    warnings: warningsOf(result),
    attempts: record.attempts,
    artifacts: artifacts.map((artifact) => ({
      variant: artifact.variant,
      media_type: artifact.mediaType,
      bytes: artifact.bytes,
      sha256: artifact.sha256,
      url: contentUrl(record.id, artifact),
    })),
  };
}

/** The error of a failed job; null for others. */
export function viewError({ error }: Pick<JobRecord, 'error'>): VideoJob['error'] {
  if (error === null) return null;
  const { status, message, reason, param } = describeJobError(error);
  return { code: status, message, reason, param, crashes: [...error.crashes] };
}

/** Progress in wire words. */
export function viewProgress(progress: NonNullable<JobRecord['progress']>): NonNullable<VideoJob['progress_detail']> {
  const { secondsLeft, fraction, ...rest } = progress;
  return { ...rest, fraction, seconds_left: secondsLeft === null ? null : rounded(secondsLeft) };
}

/** The actions of a job, in robot's words where the request came in them. */
export function viewAction({ request, result }: Pick<JobRecord, 'request' | 'result'>): VideoJob['action'] {
  const action: unknown = result?.action;
  if (!Value.Check(ActionPayload, action)) return null;
  const space = request.extra.action_space;
  if (space !== 'joint_pos' && space !== 'midtrain') return action;
  const data = action.data.map((row) => [...robotAction(space, row)]);
  return { ...action, data, shape: [data.length, data[0]?.length ?? 0] };
}

/** A number among the outcomes of a job. */
export function numberOf(result: JsonObject | null, name: string): number | null {
  const value: JsonValue | undefined = result?.[name];
  return typeof value === 'number' ? value : null;
}

/** What was dropped, cut or rounded. */
export function warningsOf(result: JsonObject | null): VideoJob['warnings'] {
  const list = result?.warnings;
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: JsonValue) =>
    isRecord(item) ? [{ param: String(item.param ?? ''), message: String(item.message ?? '') }] : [],
  );
}

/** Milliseconds to whole seconds. */
export function unixSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

/** Three decimals. */
export function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
