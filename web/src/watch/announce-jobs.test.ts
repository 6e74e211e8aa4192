import { signal } from '@preact/signals';
import { expect, it } from 'vitest';
import { sampleJob } from '../keep/sample-job.js';
import type { JobState } from '../store/types.js';
import { watchEnds } from './announce-jobs.js';

const state = (id: string, status: 'queued' | 'in_progress' | 'completed'): JobState => ({
  record: { ...sampleJob(id), status },
  secondsLeft: null,
  preview: null,
});

it('tells once of each end: of a job that was seen running, and of a new one whose end is all that is heard', () => {
  const mine = signal<readonly string[]>(['running', 'done before']);
  const jobs = signal(
    new Map([state('running', 'in_progress'), state('done before', 'completed')].map((s) => [s.record.id, s])),
  );
  const told: string[] = [];
  watchEnds({ mine, jobs }, ({ record }) => told.push(record.id));
  expect(told).toEqual([]);
  jobs.value = new Map(jobs.value).set('running', state('running', 'completed'));
  expect(told).toEqual(['running']);
  jobs.value = new Map(jobs.value).set('quick', state('quick', 'completed'));
  mine.value = ['quick', ...mine.value];
  expect(told).toEqual(['running', 'quick']);
  jobs.value = new Map(jobs.value).set('of another tab', state('of another tab', 'completed'));
  expect(told).toEqual(['running', 'quick']);
});
