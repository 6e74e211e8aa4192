// The server's status as figures: what is shown large, what is drawn over time.
import type { ServerStatus } from '../../../src/protocol/index.js';

/** Names of the figures whose course is drawn. */
export type FigureName = 'busy' | 'memory' | 'hostMemory' | 'queued' | 'running' | 'finished' | 'failed';

/** What one look at the server adds to the courses. Rates need the look before it; they are null without one. */
export function sampleOf(
  status: ServerStatus,
  before: ServerStatus | null,
): Readonly<Record<FigureName, number | null>> & Readonly<Record<`steps ${string}`, number>> {
  const { devices, host, queue, ended, steps_per_second } = status;
  return {
    busy: devices.filter(({ status: state }) => state === 'busy').length,
    memory: devices.reduce((sum, device) => sum + device.resident_bytes, 0),
    hostMemory: host.memory_total_bytes - host.memory_free_bytes,
    queued: queue.queued,
    running: queue.in_progress,
    finished: growth(ended.completed, before, before?.ended.completed, status),
    failed: growth(ended.failed, before, before?.ended.failed, status),
    ...Object.fromEntries(Object.entries(steps_per_second).map(([task, rate]) => [`steps ${task}`, rate])),
  };
}

/** How much a counter of the server has grown; null after a restart, which sets it back. */
function growth(
  now: number | undefined,
  before: ServerStatus | null,
  then: number | undefined,
  { started_at }: ServerStatus,
): number | null {
  if (before === null || before.started_at !== started_at) return null;
  return Math.max(0, (now ?? 0) - (then ?? 0));
}

/** Counts by name, the greatest first. */
export function rankedCounts(counts: Readonly<Record<string, number>>): readonly (readonly [string, number])[] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

/** Mean seconds of each phase, the longest first. */
export function meanPhases(phases: ServerStatus['phase_seconds']): readonly (readonly [string, number])[] {
  return Object.entries(phases)
    .filter(([, { count }]) => count > 0)
    .map(([phase, { count, sum }]) => [phase, sum / count] as const)
    .sort(([, a], [, b]) => b - a);
}
