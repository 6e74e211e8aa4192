// Every golden case that the repository keeps, through plan and pipeline, on the CPU device.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Backend } from '../../src/backend/index.js';
import { createCpuBackend } from '../../src/cpu/index.js';
import { openGoldenFolder } from '../../src/engine/tools/parity/golden.js';
import { formatRow, type ParityRow, runParity } from '../../src/engine/tools/parity/parity.js';
import { goldenFolder } from './read-case.js';

const parts = ['tokenizer', 'vae', 'sound_tokenizer', 'scheduler', 'opencv_controls'];
const names = [...parts, ...openGoldenFolder(goldenFolder).names];

describe('parity with the golden cases', () => {
  let backend: Backend;
  const rows = new Map<string, ParityRow>();

  beforeAll(async () => {
    backend = await createCpuBackend({ blas: null });
    for await (const row of runParity({ golden: goldenFolder, backend })) rows.set(row.name, row);
  }, 120_000);

  afterAll(async () => {
    await backend[Symbol.asyncDispose]();
  });

  it('runs every case', () => {
    expect([...rows.keys()]).toEqual(names);
  });

  it.each(names)('%s', (name) => {
    const row = rows.get(name);
    expect(row && formatRow(row)).toMatch(/ pass /);
    expect(row?.compared).toBeGreaterThanOrEqual(2);
  });
});
