import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LockHeldError } from '../jobs/errors.js';
import { ProcessLock } from './process-lock.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('one holder at a time, within a process too', async () => {
  const path = join(folder, 'deep', 'device.lock');
  const first = await ProcessLock.take(path);
  await expect(ProcessLock.take(path)).rejects.toThrow(LockHeldError);
  await expect(ProcessLock.take(path)).rejects.toThrow(`${path} is locked by process ${process.pid}`);
  const waiting = ProcessLock.take(path, 5_000);
  first[Symbol.dispose]();
  const second = await waiting;
  second[Symbol.dispose]();
  second[Symbol.dispose]();
});

test('a killed holder leaves the lock free', async () => {
  const path = join(folder, 'device.lock');
  const lock = pathToFileURL('dist/engine/worker/process-lock.js').href;
  const script = `
    const { ProcessLock } = await import(${JSON.stringify(lock)});
    const held = await ProcessLock.take(${JSON.stringify(path)});
    console.log('held');
    setInterval(() => held, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await expect(ProcessLock.take(path)).rejects.toThrow(`locked by process ${child.pid}`);
  child.kill('SIGKILL');
  await once(child, 'exit');
  using taken = await ProcessLock.take(path, 1_000);
  expect(taken).toBeInstanceOf(ProcessLock);
});
