// A job's state in words.
import type { JobState } from '../store/types.js';
import { formatSeconds } from '../texts/format.js';
import { t } from '../texts/t.js';

/** What it is doing: its place in the queue, its phase and step, or how it ended. */
export function stateWords({ record }: JobState): string {
  const { status, queue_place: place, progress_detail: detail, inference_time_s: seconds } = record;
  if (status === 'queued') return place === null ? t('watch.waiting') : t('watch.place', { place });
  if (status === 'in_progress') {
    if (detail === null) return t('status.in_progress');
    const { phase, step, steps, chunk, chunks } = detail;
    const words = t(`watch.phase.${phase}`, { step, steps });
    return chunks > 1 ? `${words}, ${t('watch.chunk', { chunk: chunk + 1, chunks })}` : words;
  }
  const words = t(`status.${status}`);
  return status === 'completed' && seconds !== null
    ? `${words}, ${t('watch.took', { time: formatSeconds(seconds) })}`
    : words;
}

/** How long it will take yet; empty while nobody knows. */
export function leftWords({ secondsLeft, record }: JobState): string {
  if (secondsLeft === null || record.status === 'completed') return '';
  return t('watch.left', { time: formatSeconds(Math.max(0, secondsLeft)) });
}

/** Size and length in short, as far as they are known. */
export function sizeWords({ record }: JobState): string {
  const { width, height, num_frames: frames, duration_s: seconds } = record;
  const parts = [
    width !== null && height !== null ? t('unit.pixels', { width, height }) : '',
    seconds !== null && frames !== null && frames > 1 ? formatSeconds(seconds) : '',
  ];
  return parts.filter((part) => part !== '').join(' · ');
}
