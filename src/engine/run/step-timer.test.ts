import { expect, it } from 'vitest';
import { StepTimer } from './step-timer.js';

it('averages the steps and counts those of later chunks as left', () => {
  let now = 0;
  const timer = new StepTimer(() => now);
  now = 5000;
  timer.start();
  now = 7000;
  expect(timer.step({ step: 1, steps: 4, chunk: 0, chunks: 2 })).toEqual({ secondsPerStep: 2, secondsLeft: 14 });
  now = 11_000;
  expect(timer.step({ step: 2, steps: 4, chunk: 0, chunks: 2 })).toEqual({ secondsPerStep: 3, secondsLeft: 18 });
  now = 90_000;
  timer.start();
  now = 93_000;
  expect(timer.step({ step: 4, steps: 4, chunk: 1, chunks: 2 })).toEqual({ secondsPerStep: 3, secondsLeft: 0 });
});
