// Workers and the whole engine die at random points: a small storm. The full one is crash-full.ts.
import { expect, test } from 'vitest';
import { expectSurvival } from './expect-survival.js';
import { temporaryFolder } from './fake-jobs.js';

test('no job is lost, doubled or wrongly failed while processes are killed', { timeout: 120_000 }, async () => {
  using folder = temporaryFolder();
  const figures = await expectSurvival({ folder: folder.path, jobs: 60, kills: 12, seed: 7, workers: 3 });
  expect(figures).toMatch(/of 60 jobs completed/);
});
