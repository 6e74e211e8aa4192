// Every golden case that the repository keeps, through plan and pipeline, on the CPU device: the reference's cases on small
// random weights, and our own training code's cases on the trained micro checkpoint.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CpuBackend, createCpuBackend } from '../../src/cpu/index.js';
import { openGoldenFolder } from '../../src/engine/tools/parity/golden.js';
import { formatRow, type ParityRow, runParity } from '../../src/engine/tools/parity/parity.js';
import { goldenFolder } from './read-case.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const parts = ['tokenizer', 'vae', 'sound_tokenizer', 'scheduler', 'opencv_controls'];
const suites = [
  { name: 'the reference', golden: goldenFolder, checkpoints: goldenFolder, parts },
  { name: 'the trained checkpoint', golden: here('data/micro'), checkpoints: here('../../checkpoints'), parts: [] },
];

describe.each(suites)('parity with $name', ({ golden, checkpoints, parts }) => {
  const names = [...parts, ...openGoldenFolder(golden).names];
  const rows = new Map<string, ParityRow>();
  let backend: CpuBackend;

  beforeAll(async () => {
    backend = await createCpuBackend({ blas: null });
    for await (const row of runParity({ golden, checkpoints, backend })) rows.set(row.name, row);
  }, 180_000);

  afterAll(() => backend[Symbol.asyncDispose]());

  it('runs every case', () => {
    expect([...rows.keys()]).toEqual(names);
  });

  it.each(names)('%s', (name) => {
    const row = rows.get(name);
    expect(row && formatRow(row)).toMatch(/ pass /);
    expect(row?.compared).toBeGreaterThanOrEqual(2);
  });
});
