// The CPU device: the whole contract on one shared memory and a pool of threads.
import { availableParallelism } from 'node:os';
import { type Backend, type Kept, residentOffload, UnsupportedFormatError } from '../backend/index.js';
import { NativeError } from '../native/index.js';
import { type Blas, hintBlasKernels, openBlas } from './blas.js';
import type { CpuDevice } from './cpu-device.js';
import { compileKernels } from './kernel-module.js';
import { layoutOps } from './ops/layout.js';
import { productOps } from './ops/products.js';
import { rowOps } from './ops/rows.js';
import { createScopes, own } from './storage/cpu-tensor.js';
import { CpuWeight } from './storage/cpu-weight.js';
import { DeviceMemory } from './storage/device-memory.js';
import { WeightStore } from './storage/weight-store.js';
import { Pool } from './threads/pool.js';
import { threadBytes } from './threads/thread.js';

export interface CpuOptions {
  /** Threads that compute, this one included; as many as the machine has when absent. Results do not depend on it. */
  readonly threads?: number;
  /** A BLAS library, 'auto' (the default) for the system's OpenBLAS where there is one, null for none. */
  readonly blas?: string | null;
  /** Bytes of activations and packed weights at most; 4 GiB when absent, which is the limit. */
  readonly memoryLimit?: number;
  /** Bytes of packed float32 weights that are kept between calls. */
  readonly weightCache?: number;
  /** For tests: sentinels around every tensor, new tensors filled with NaN. */
  readonly probe?: boolean;
}

export interface CpuBackend extends Backend {
  readonly activationDtype: 'f32';
  readonly threads: number;
  /** Path of the BLAS library in use, or null. */
  readonly blas: string | null;
  /** What multiplies matrices, on which the last bits of results depend: `SIMD kernels`, `OpenBLAS 0.3.21 SkylakeX`. */
  readonly arithmetic: string;
  /** One line for people: threads and what multiplies matrices. */
  describe(): string;
  /** Bytes of shared memory in use. */
  usedBytes(): number;
  /** With `probe`: sentinels overwritten since the last call, one line each. */
  damage(): readonly string[];
}

const defaultWeightCache = 1 << 30;

function findBlas(wanted: string | null): Blas | null {
  if (wanted === null) return null;
  try {
    hintBlasKernels();
    return openBlas(wanted);
  } catch (error) {
    if (wanted === 'auto' && error instanceof NativeError) return null;
    throw error;
  }
}

/**
 * Starts the CPU device. Dispose of it to end its threads; they do not keep the process alive.
 * @throws RangeError for a thread count that is not a positive integer; NativeError when a named BLAS cannot be opened.
 */
export async function createCpuBackend(options: CpuOptions = {}): Promise<CpuBackend> {
  const threads = options.threads ?? availableParallelism();
  if (!Number.isInteger(threads) || threads < 1 || threads > 512)
    throw new RangeError(`${threads} threads: expected a whole number from 1 to 512`);
  const blas = findBlas(options.blas === undefined ? 'auto' : options.blas);
  const memory = new DeviceMemory({
    ...(options.memoryLimit === undefined ? {} : { limit: options.memoryLimit }),
    ...(options.probe === undefined ? {} : { probe: options.probe }),
  });
  const module = compileKernels();
  const setups = Array.from({ length: threads }, () => ({
    module,
    memory: memory.wasm,
    scratch: memory.allocate(threadBytes),
    blas: blas?.path ?? null,
  }));
  const pool = new Pool(setups);
  const weights = new WeightStore(memory, pool, options.weightCache ?? defaultWeightCache);
  const scopes = createScopes(memory, () => weights.reclaim());
  try {
    await pool.ready();
  } catch (error) {
    await pool.close();
    throw error;
  }
  return assemble({ memory, pool, scopes, weights }, threads, blas);
}

function assemble(d: CpuDevice, threads: number, blas: Blas | null): CpuBackend {
  const arithmetic = blas?.version ?? 'SIMD kernels';
  const backend: CpuBackend = {
    name: 'cpu',
    activationDtype: 'f32',
    weightFormats: ['dense'],
    threads,
    blas: blas?.path ?? null,
    arithmetic,
    describe: () => `cpu: ${threads} thread${threads === 1 ? '' : 's'}, ${arithmetic}`,
    usedBytes: () => d.memory.used,
    damage: () => d.memory.damage(),

    upload(host) {
      const tensor = d.scopes.make(host.shape, host.dtype);
      d.memory.bytes(tensor.address, tensor.byteLength).set(host.bytes);
      return tensor;
    },
    offload: residentOffload,
    weight(parts, use, { format = 'dense' } = {}) {
      if (format !== 'dense') throw new UnsupportedFormatError(format, backend.name);
      return new CpuWeight(parts, use, (weight) => d.weights.release(weight));
    },
    zeros(shape, dtype) {
      const tensor = d.scopes.make(shape, dtype);
      d.memory.bytes(tensor.address, tensor.byteLength).fill(0);
      return tensor;
    },
    async download(x) {
      const tensor = own(x);
      return {
        shape: tensor.shape,
        dtype: tensor.dtype,
        bytes: d.memory.bytes(tensor.address, tensor.byteLength).slice(),
      };
    },
    scope: <T extends Kept>(body: () => T) => d.scopes.run(body),
    capture: (body) => ({
      replay: () => {
        d.scopes.run(() => {
          body();
          return null;
        });
      },
      [Symbol.dispose]() {},
    }),
    async synchronize() {},
    [Symbol.asyncDispose]: () => d.pool.close(),
    ...layoutOps(d),
    ...productOps(d),
    ...rowOps(d, () => backend),
  };
  return backend;
}
