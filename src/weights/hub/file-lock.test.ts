// The lock under contention.
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withFileLock } from './file-lock.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-lock-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// No process has this id: it is above the largest that Linux gives.
const deadPid = 2 ** 22 + 1;

it.each([
  ['a dead process', `${deadPid}@${hostname()}`, 0],
  ['another machine, untouched for a minute', '1@elsewhere', 61],
])('lets one of many in at a time after %s', async (_, holder, age) => {
  const path = join(folder, 'contended.lock');
  writeFileSync(path, holder);
  const then = Date.now() / 1000 - age;
  utimesSync(path, then, then);
  let inside = 0;
  let most = 0;
  const enter = async () => {
    most = Math.max(most, ++inside);
    await sleep(2);
    inside--;
  };
  await Promise.all(Array.from({ length: 8 }, () => withFileLock(path, undefined, enter)));
  expect(most).toBe(1);
  expect(existsSync(path)).toBe(false);
});

it('waits for a living holder, until told to stop', async () => {
  const path = join(folder, 'held.lock');
  writeFileSync(path, `${process.pid}@${hostname()}`);
  const signal = AbortSignal.timeout(250);
  await expect(withFileLock(path, signal, () => Promise.resolve())).rejects.toThrow(/timeout|aborted/);
  expect(existsSync(path)).toBe(true);
});

it('removes the lock when the body fails', async () => {
  const path = join(folder, 'failing.lock');
  const fail = () => Promise.reject(new Error('no'));
  await expect(withFileLock(path, undefined, fail)).rejects.toThrow('no');
  expect(existsSync(path)).toBe(false);
});
