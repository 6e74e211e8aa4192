import { describe, expect, it } from 'vitest';
import type { ServerStatus } from '../../../src/protocol/index.js';
import { meanPhases, rankedCounts, sampleOf } from './figures.js';

const status: ServerStatus = {
  object: 'status',
  version: '1',
  model: 'm',
  started_at: 100,
  uptime_s: 5,
  draining: false,
  devices: [
    {
      device: 'cpu',
      name: 'A processor',
      status: 'busy',
      job_id: null,
      restarts: 0,
      last_crash: null,
      resident_bytes: 300,
      memory_total_bytes: 1000,
    },
  ],
  host: { cpu: 'A processor', cores: 2, memory_total_bytes: 1000, memory_free_bytes: 400, disk_free_bytes: null },
  queue: { queued: 3, in_progress: 1, completed: 9, failed: 2, cancelled: 0 },
  running: [],
  steps_per_second: { 'text-to-video': 1.5 },
  ended: { completed: 5, failed: 1, cancelled: 0 },
  failures: { timeout: 1 },
  refusals: {},
  phase_seconds: { denoise: { count: 2, sum: 10 }, decode: { count: 2, sum: 1 }, text: { count: 0, sum: 0 } },
  event_streams: 1,
};

describe('sampleOf', () => {
  it('counts what is, and how counters grow', () => {
    expect(sampleOf(status, null)).toEqual({
      busy: 1,
      memory: 300,
      hostMemory: 600,
      queued: 3,
      running: 1,
      finished: null,
      failed: null,
      'steps text-to-video': 1.5,
    });
    const later = { ...status, ended: { completed: 8, failed: 1, cancelled: 0 } };
    expect(sampleOf(later, status)).toMatchObject({ finished: 3, failed: 0 });
  });

  it('does not take a restart for a fall', () => {
    expect(sampleOf({ ...status, started_at: 200, ended: {} }, status)).toMatchObject({ finished: null, failed: null });
  });
});

describe('lists', () => {
  it('have the greatest first', () => {
    expect(rankedCounts({ a: 1, b: 3, c: 0, d: 1 })).toEqual([
      ['b', 3],
      ['a', 1],
      ['d', 1],
    ]);
    expect(meanPhases(status.phase_seconds)).toEqual([
      ['denoise', 5],
      ['decode', 0.5],
    ]);
  });
});
