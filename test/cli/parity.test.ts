// `orrery parity`: scripts rely on its exit code.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../architecture/source-tree.js';
import { runCli, temporaryFolder } from './run-cli.js';

const golden = join(root, 'test/golden/data');

describe('orrery parity', () => {
  const cwd = temporaryFolder();

  it('leaves with 0 where every case passes', async () => {
    const { code, stdout } = await runCli(['parity', '--golden', golden, '--only', 'scheduler', '--device', 'cpu'], {
      cwd,
    });
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('1 passed, 0 failed');
    expect(code).toBe(0);
  });

  it('leaves with 1 where a case fails', async () => {
    const folder = join(cwd, 'changed');
    mkdirSync(join(folder, 'cases'), { recursive: true });
    copyFileSync(join(golden, 'cases.json'), join(folder, 'cases.json'));
    const bytes = readFileSync(join(golden, 'cases/scheduler.safetensors'));
    // The top bits of a number in the middle: its size is another.
    const place = bytes.length - 4 * Math.floor(bytes.length / 16) + 3;
    bytes[place] = (bytes[place] ?? 0) ^ 0x20;
    writeFileSync(join(folder, 'cases/scheduler.safetensors'), bytes);
    const { code, stdout } = await runCli(['parity', '--golden', folder, '--only', 'scheduler', '--device', 'cpu'], {
      cwd,
    });
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('0 passed, 1 failed');
    expect(code).toBe(1);
  });
});
