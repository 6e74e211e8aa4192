import { expect, test } from 'vitest';
import { runCli, temporaryFolder } from '../../../../test/cli/run-cli.js';

const cwd = temporaryFolder();
const small = ['--device', 'cpu', '--prompts', '1', '--size', '32x32', '--num-frames', '1'];

test('prints a table whose last line counts, and one object with --json', { timeout: 60_000 }, async () => {
  const [table, json] = await Promise.all([
    runCli(['quality', ...small], { cwd }),
    runCli(['quality', ...small, '--only', 'f32', '--json'], { cwd }),
  ]);
  expect(table).toMatchObject({ code: 0, signal: null });
  expect(table.stdout.trimEnd().split('\n').at(-1)).toBe('5 passed, 0 failed');
  expect(table.stderr).toMatch(/^reference, cpu.*: prompt 1 of 1$/m);
  expect(json).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(json.stdout)).toMatchObject({
    job: { prompts: 1, width: 32, height: 32, frames: 1, steps: 10, flowShift: 10 },
    rows: [{ variant: 'f32', against: 'f32', frames: { frames: 1, identical: 1 } }],
    passed: 1,
    failed: 0,
  });
});

test('a limit that is missed is exit code 1, a wrong flag 2', { timeout: 60_000 }, async () => {
  // With such a shift all noise goes in the first step: what is skipped later makes no difference, and extrapolation is no better.
  const [missed, wrong] = await Promise.all([
    runCli(['quality', ...small, '--flow-shift', '1e-12'], { cwd }),
    runCli(['quality', '--prompts', 'many'], { cwd }),
  ]);
  expect(missed.stdout).toMatch(/^MISS {2}f32-skip-3-5-7-extrapolate.* 0 < 0$/m);
  expect(missed.stdout).toMatch(/ 2 failed\n$/);
  expect(missed.code).toBe(1);
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toContain('--prompts must be a whole number of at least 1, got many');
});
