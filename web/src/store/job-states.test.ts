import { describe, expect, test } from 'vitest';
import type { Job, JobEventMessage } from '../../../src/protocol/index.js';
import { advanceJob, describedJob, isOver, needsLook } from './job-states.js';
import type { JobState } from './types.js';

/** A job that waits. */
function waiting(): Job {
  return {
    id: 'a',
    object: 'job',
    kind: 'video',
    model: 'm',
    task: 'text-to-video',
    prompt: 'A ball',
    negative_prompt: null,
    status: 'queued',
    progress: 0,
    progress_detail: null,
    queue_place: 2,
    created_at: 1,
    started_at: null,
    completed_at: null,
    expires_at: null,
    width: 64,
    height: 64,
    num_frames: 5,
    fps: 24,
    duration_s: 0.2,
    seed: 1,
    num_inference_steps: 4,
    guidance_scale: 1,
    flow_shift: 3,
    has_sound: false,
    has_action: false,
    error: null,
    warnings: [],
    attempts: 0,
    inference_time_s: null,
    stage_durations: {},
    peak_memory_mb: 0,
    action: null,
    artifacts: [],
    thumbnail_url: null,
    inputs: [],
    request: {},
  };
}

const common = { job_id: 'a', at: 5 };
const place: JobEventMessage = { id: 1, event: 'place', data: { ...common, place: 1, seconds_left: 9 } };
const progress: JobEventMessage = {
  id: 2,
  event: 'progress',
  data: {
    ...common,
    progress: { phase: 'denoise', step: 2, steps: 4, chunk: 0, chunks: 1, fraction: 0.5, seconds_left: 3 },
  },
};
const preview: JobEventMessage = {
  id: 3,
  event: 'preview',
  data: { ...common, step: 2, steps: 4, image: 'data:,x', width: 8, height: 8, frame: 0, final: false },
};
const status = (to: Job['status']): JobEventMessage => ({
  id: 4,
  event: 'status',
  data: { ...common, status: to, attempts: 1, error: null },
});

/** The job after events, undefined once it is gone. */
const advanced = (...messages: readonly JobEventMessage[]) =>
  messages.reduce<JobState | undefined>(
    (state, message) => state && advanceJob(state, message),
    describedJob(waiting(), undefined),
  );

describe('events move a job on', () => {
  test('through the queue, its steps and its end', () => {
    expect(advanced(place)).toMatchObject({ secondsLeft: 9, record: { queue_place: 1, status: 'queued' } });
    expect(advanced(place, progress)).toMatchObject({
      secondsLeft: 3,
      record: { status: 'in_progress', queue_place: null, progress: 50, progress_detail: { step: 2 } },
    });
    expect(advanced(progress, preview)?.preview).toMatchObject({ step: 2, image: 'data:,x' });
    // The last preview stays until the record has the result.
    expect(advanced(progress, preview, status('completed'))).toMatchObject({
      preview: { step: 2 },
      record: { status: 'completed', progress: 100, progress_detail: null },
    });
    expect(advanced(progress, preview, status('cancelled'))).toMatchObject({
      preview: null,
      secondsLeft: null,
      record: { status: 'cancelled', progress_detail: null },
    });
    expect(advanced({ id: 9, event: 'deleted', data: common })).toBeUndefined();
  });

  test('what comes late does not wake a job that is over', () => {
    expect(advanced(status('cancelled'), progress, preview, place)).toMatchObject({
      preview: null,
      record: { status: 'cancelled', progress: 0 },
    });
  });

  test('a job that a restart put back waits again', () => {
    expect(advanced(progress, status('queued'))?.record).toMatchObject({ status: 'queued', attempts: 1 });
  });
});

test('a record from a list keeps the actions and the preview that are known', () => {
  const action = {
    data: [[1]],
    shape: [1, 1],
    dtype: 'float32',
    raw_action_dim: 1,
    action_mode: 'policy',
    domain_id: 1,
  };
  const known = describedJob({ ...waiting(), action }, undefined);
  expect(describedJob(waiting(), known).record.action).toEqual(action);
  const running = advanced(progress, preview);
  expect(describedJob({ ...waiting(), status: 'in_progress' }, running).preview?.step).toBe(2);
  expect(describedJob({ ...waiting(), status: 'completed' }, running)).toMatchObject({
    preview: null,
    secondsLeft: null,
  });
});

test('what is over, and what is worth another look', () => {
  expect(
    ['queued', 'in_progress', 'completed', 'failed', 'cancelled'].map((state) =>
      isOver({ status: state as Job['status'] }),
    ),
  ).toEqual([false, false, true, true, true]);
  expect([place, progress, preview].some(needsLook)).toBe(false);
  expect(needsLook(status('completed'))).toBe(true);
});
