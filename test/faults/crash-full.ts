// The full storm: 200 jobs, 50 kills. Run by `npx vitest run --config test/faults/full.config.ts`.
import { expect, test } from 'vitest';
import { expectSurvival } from './expect-survival.js';
import { temporaryFolder } from './fake-jobs.js';

test('200 jobs survive 50 kills', { timeout: 300_000 }, async () => {
  using folder = temporaryFolder();
  const figures = await expectSurvival({ folder: folder.path, jobs: 200, kills: 50, seed: 2026, workers: 3 });
  console.log(figures);
  expect(figures).toMatch(/of 200 jobs completed/);
});
