// What events do to a job: pure functions over what the page knows.
import type { Job, JobEventMessage } from '../../../src/protocol/index.js';
import type { JobState, Preview } from './types.js';

/** The end states. */
export function isOver({ status }: Pick<Job, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/**
 * A job that the server has just described. Lists leave the actions out: those that are known stay.
 * @param before what was known of it; its preview stays while it runs
 */
export function describedJob(record: Job, before: JobState | undefined): JobState {
  const action = record.action ?? before?.record.action ?? null;
  const over = isOver(record);
  return {
    record: { ...record, action },
    secondsLeft: over ? null : (record.progress_detail?.seconds_left ?? before?.secondsLeft ?? null),
    preview: over ? null : (before?.preview ?? null),
  };
}

/** A job after an event; undefined when it is gone. A job that is over hears nothing but its deletion or its restart. */
export function advanceJob(state: JobState, message: JobEventMessage): JobState | undefined {
  const { record } = state;
  switch (message.event) {
    case 'deleted':
      return undefined;
    case 'status': {
      const { status, attempts, error } = message.data;
      const ends = isOver({ status });
      const changed = { ...record, status, attempts, error };
      if (status === 'completed') return { ...state, record: { ...changed, progress: 100, progress_detail: null } };
      if (ends) return { record: { ...changed, progress_detail: null }, secondsLeft: null, preview: null };
      const place = status === 'queued' ? record.queue_place : null;
      return { ...state, record: { ...changed, queue_place: place } };
    }
    case 'place': {
      if (isOver(record)) return state;
      const { place, seconds_left: secondsLeft } = message.data;
      return { ...state, secondsLeft, record: { ...record, queue_place: place } };
    }
    case 'progress': {
      if (isOver(record)) return state;
      const { progress } = message.data;
      const percent = Math.min(99, Math.floor(progress.fraction * 100));
      return {
        ...state,
        secondsLeft: progress.seconds_left,
        record: { ...record, status: 'in_progress', queue_place: null, progress: percent, progress_detail: progress },
      };
    }
    case 'preview': {
      if (isOver(record)) return state;
      const { step, steps, image, width, height, final } = message.data;
      const preview: Preview = { step, steps, image, width, height, final };
      return { ...state, preview };
    }
    default:
      return message satisfies never;
  }
}

/** Whether an event means that the server has more to say of the job than the event holds. */
export function needsLook(message: JobEventMessage): boolean {
  return message.event === 'status' && message.data.status !== 'queued';
}
