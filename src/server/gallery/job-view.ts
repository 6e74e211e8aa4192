// A job's record as the gallery shows it.
import type { JobRecord, UploadRecord } from '../../engine/jobs/types.js';
import type { Job } from '../../protocol/index.js';
import { fileIdOf } from '../inputs/wanted-input.js';
import { numberOf, rounded, unixSeconds, viewAction, viewError, viewProgress, warningsOf } from '../jobs/video-view.js';
import { repeatForm } from './repeat-form.js';

/** What a view needs besides the record. */
export interface JobViewContext {
  readonly modelName: string;
  readonly place: number | null;
  /** The inputs that are still kept, by content. */
  readonly uploads: ReadonlyMap<string, UploadRecord>;
  /** Address of something under the job's path, as `content`. */
  readonly url: (path: string, query?: Readonly<Record<string, string>>) => string;
  /** Actions are long; lists leave them out. */
  readonly withAction: boolean;
}

/** The record in wire words. */
export function viewJob(record: JobRecord, context: JobViewContext): Job {
  const { request, summary, status, timings, progress, result } = record;
  const { prompt, negative_prompt: negative, model } = { ...request.fields, ...request.extra };
  const isOver = status === 'completed' || status === 'failed' || status === 'cancelled';
  const frames = numberOf(result, 'frames') ?? summary?.frames ?? null;
  const fps = numberOf(result, 'fps') ?? summary?.fps ?? null;
  return {
    id: record.id,
    object: 'job',
    kind: record.kind,
    model: typeof model === 'string' ? model : context.modelName,
    task: summary?.task ?? null,
    prompt: typeof prompt === 'string' ? prompt : '',
    negative_prompt: typeof negative === 'string' ? negative : null,
    status,
    progress: status === 'completed' ? 100 : Math.min(99, Math.floor((progress?.fraction ?? 0) * 100)),
    progress_detail: status !== 'in_progress' || progress === null ? null : viewProgress(progress),
    queue_place: context.place,
    created_at: unixSeconds(record.createdAt),
    started_at: secondsOrNull(record.startedAt),
    completed_at: secondsOrNull(record.completedAt),
    expires_at: secondsOrNull(record.expiresAt),
    width: numberOf(result, 'width') ?? summary?.width ?? null,
    height: numberOf(result, 'height') ?? summary?.height ?? null,
    num_frames: frames,
    fps,
    duration_s: frames === null || fps === null || fps === 0 ? null : rounded(frames / fps),
    seed: numberOf(result, 'seed') ?? summary?.seed ?? null,
    num_inference_steps: summary?.steps ?? null,
    computed_steps: numberOf(result, 'computedSteps'),
    guidance_scale: summary?.guidance ?? null,
    flow_shift: summary?.flowShift ?? null,
    has_sound: summary?.hasSound ?? false,
    has_action: summary?.hasAction ?? false,
    error: viewError(record),
    warnings: warningsOf(result),
    attempts: record.attempts,
    inference_time_s: isOver && record.startedAt !== null ? rounded(timings?.total ?? 0) : null,
    stage_durations: Object.fromEntries(
      Object.entries(timings?.phases ?? {}).map(([name, time]) => [name, rounded(time)]),
    ),
    peak_memory_mb: rounded(timings?.peakMemoryMb ?? 0),
    action: context.withAction ? viewAction(record) : null,
    ...viewFiles(record, context),
    request: repeatForm(record),
  };
}

function viewFiles(
  { artifacts, request }: JobRecord,
  { url, uploads }: JobViewContext,
): Pick<Job, 'artifacts' | 'thumbnail_url' | 'inputs'> {
  const files = artifacts.map(({ variant, mediaType, bytes, sha256 }) => ({
    variant,
    media_type: mediaType,
    bytes,
    sha256,
    url: url('content', { variant }),
  }));
  return {
    artifacts: files,
    thumbnail_url: files.find(({ variant }) => variant === 'thumbnail')?.url ?? null,
    inputs: request.inputs.flatMap(({ role, sha256 }) => {
      const upload = uploads.get(sha256);
      if (upload === undefined) return [];
      const { mediaType, bytes } = upload;
      return [{ role, file_id: fileIdOf(sha256), media_type: mediaType, bytes, url: url(`inputs/${role}`) }];
    }),
  };
}

function secondsOrNull(milliseconds: number | null): number | null {
  return milliseconds === null ? null : unixSeconds(milliseconds);
}
