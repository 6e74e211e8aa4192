import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JobDatabase } from './database.js';
import { RunTimelines } from './run-timeline.js';
import type { JobProgress } from './types.js';

let folder: string;
let database: JobDatabase;
let clock = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-timeline-'));
  database = new JobDatabase(join(folder, 'jobs.db'));
  clock = 5_000;
});
afterEach(() => {
  database[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** A run of 2 chunks: loading 5 s, text 1 s, per chunk 10 steps of 2 s and 6 s of decoding, writing 1 s; times `pace`. */
function simulate(timelines: RunTimelines, shape: string | null, pace = 1): { progress: JobProgress; truth: number }[] {
  const run = timelines.begin(shape);
  const seen: { progress: JobProgress; at: number }[] = [];
  const reach = (phase: JobProgress['phase'], chunk = 0, step = 0, steps = 0) => {
    seen.push({ progress: run.reach({ phase, step, steps, chunk, chunks: 2 }), at: clock });
  };
  const pass = (seconds: number) => {
    clock += seconds * 1000 * pace;
  };
  reach('load');
  pass(5);
  reach('text');
  pass(1);
  for (const chunk of [0, 1]) {
    reach('denoise', chunk, 0, 10);
    for (let step = 1; step <= 10; step++) {
      pass(2);
      reach('denoise', chunk, step, 10);
    }
    reach('decode', chunk);
    pass(6);
  }
  reach('write', 1);
  pass(1);
  run.finish();
  const phases = { load: 5, text: 1, denoise: 40, decode: 12, write: 1 };
  for (const [phase, seconds] of Object.entries(phases)) {
    expect(run.phases).toHaveProperty(phase, expect.closeTo(seconds * pace, 6));
  }
  const end = clock;
  return seen.map(({ progress, at }) => ({ progress, truth: (end - at) / 1000 }));
}

describe('the first run of a shape', () => {
  test('knows nothing before its first step, then goes by its pace', () => {
    const points = simulate(new RunTimelines(database, () => clock), 'shape');
    expect(points[1]?.progress).toMatchObject({ phase: 'text', secondsLeft: null });
    const fifth = points.find(({ progress }) => progress.step === 5)?.progress;
    expect(fifth?.secondsLeft).toBeCloseTo(5 * 2 + 20, 6);
    const fractions = points.map(({ progress }) => progress.fraction);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
  });
});

describe('the second run of a shape', () => {
  test('knows the time left exactly when it goes like the first', () => {
    simulate(new RunTimelines(database, () => clock), 'shape');
    // Another object: what was learnt is in the store.
    const timelines = new RunTimelines(database, () => clock);
    expect(timelines.total('shape')).toBe(54);
    for (const { progress, truth } of simulate(timelines, 'shape')) {
      if (progress.phase !== 'load') expect(progress.secondsLeft).toBeCloseTo(truth, 6);
    }
  });

  test.each([0.6, 1.2, 2])('stays within a quarter after a tenth of the run at %f of the time', (pace) => {
    const timelines = new RunTimelines(database, () => clock);
    simulate(timelines, 'shape');
    const points = simulate(timelines, 'shape', pace).filter(
      ({ progress }) => progress.step >= 3 || progress.chunk > 0,
    );
    for (const { progress, truth } of points) {
      expect(Math.abs((progress.secondsLeft ?? 0) - truth)).toBeLessThanOrEqual(0.25 * truth);
    }
  });

  test('does not learn from runs of other shapes or of none', () => {
    const timelines = new RunTimelines(database, () => clock);
    simulate(timelines, null);
    simulate(timelines, 'other');
    expect(timelines.total('shape')).toBeNull();
    expect(timelines.total(null)).toBeNull();
  });
});

test('a first run that had everything to make ready foretells the second within a quarter', () => {
  const timelines = new RunTimelines(database, () => clock);
  const run = (isCold: boolean) => {
    const watched = timelines.begin('shape');
    const seen: { readonly left: number; readonly fraction: number; readonly at: number }[] = [];
    const reach = (phase: JobProgress['phase'], step = 0, steps = 0) => {
      const { secondsLeft, fraction } = watched.reach({ phase, step, steps, chunk: 0, chunks: 1 });
      seen.push({ left: secondsLeft ?? Number.NaN, fraction, at: clock });
    };
    const pass = (seconds: number) => {
      clock += seconds * 1000;
    };
    reach('text');
    pass(isCold ? 0.6 : 0.1);
    reach('denoise', 0, 12);
    for (let step = 1; step <= 12; step++) {
      pass(isCold && step === 1 ? 1.2 : 0.4);
      reach('denoise', step, 12);
    }
    reach('decode');
    pass(isCold ? 1.9 : 1.6);
    reach('write');
    pass(0.3);
    watched.finish();
    const inside = seen.filter(({ fraction }) => fraction > 0.1 && fraction < 0.9);
    return inside.map(({ left, at }) => Math.abs(left - (clock - at) / 1000) / ((clock - at) / 1000));
  };
  run(true);
  const errors = run(false);
  expect(errors.length).toBeGreaterThan(8);
  expect(Math.max(...errors)).toBeLessThan(0.25);
});

test('the time left runs down between points', () => {
  const timelines = new RunTimelines(database, () => clock);
  simulate(timelines, 'shape');
  const run = timelines.begin('shape');
  expect(run.secondsLeft).toBeNull();
  run.reach({ phase: 'text', step: 0, steps: 0, chunk: 0, chunks: 2 });
  clock += 4000;
  expect(run.secondsLeft).toBe(50);
  clock += 60_000;
  expect(run.secondsLeft).toBe(0);
});
