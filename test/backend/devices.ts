// The devices the op cases run on: one row each. A device that this machine lacks gives null.
import { createCpuBackend } from '../../src/cpu/index.js';
import { createOracle } from './oracle.js';
import type { ProbedDevice } from './run-case.js';

export interface DeviceRow {
  readonly name: string;
  open(): Promise<ProbedDevice | null>;
}

async function openCpu(threads: number, blas: string | null): Promise<ProbedDevice | null> {
  const backend = await createCpuBackend({ threads, blas, probe: true });
  if (blas !== null && backend.blas === null) {
    await backend[Symbol.asyncDispose]();
    return null;
  }
  return {
    backend,
    strayWrites: () => backend.damage(),
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  };
}

export const devices: readonly DeviceRow[] = [
  {
    name: 'oracle',
    open: async () => ({ backend: createOracle(), strayWrites: () => [], async [Symbol.asyncDispose]() {} }),
  },
  { name: 'cpu with kernels', open: () => openCpu(2, null) },
  { name: 'cpu with OpenBLAS', open: () => openCpu(2, 'auto') },
];
