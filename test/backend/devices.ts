// The devices the op cases run on: one row each.
import { createCpuBackend } from '../../src/cpu/index.js';
import { createOracle } from './oracle.js';
import type { ProbedDevice } from './run-case.js';

export interface OpenOptions {
  /** Sentinels beside tensors and outputs filled with NaN; off for timing. */
  readonly probe: boolean;
}

export interface DeviceRow {
  readonly name: string;
  /** Whether the timing mode takes it in. */
  readonly timed: boolean;
  /** Null where this machine lacks the device. */
  open(options: OpenOptions): Promise<ProbedDevice | null>;
}

async function openCpu(blas: string | null, { probe }: OpenOptions): Promise<ProbedDevice | null> {
  const backend = await createCpuBackend({ threads: 2, blas, probe });
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
    timed: false,
    open: async () => ({ backend: createOracle(), strayWrites: () => [], async [Symbol.asyncDispose]() {} }),
  },
  { name: 'cpu with kernels', timed: true, open: (options) => openCpu(null, options) },
  { name: 'cpu with OpenBLAS', timed: true, open: (options) => openCpu('auto', options) },
];
