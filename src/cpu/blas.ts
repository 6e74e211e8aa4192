// OpenBLAS, opened where the machine has it, and products by it.
import { readFileSync } from 'node:fs';
import { addressOf, isFfiAvailable, openLibrary, openProcess } from '../native/index.js';
import type { Products } from './kernel-products.js';

const blasNames: readonly string[] =
  process.platform === 'darwin'
    ? ['/opt/homebrew/opt/openblas/lib/libopenblas.dylib', 'libopenblas.dylib']
    : process.platform === 'win32'
      ? ['libopenblas.dll']
      : ['libopenblas.so.0', 'libopenblas.so'];

// cblas.h
const rowMajor = 101;
const plain = 111;
const transposed = 112;

/** `cblas_sgemm` for row-major matrices: strides in elements, addresses as numbers. */
export type Sgemm = (
  transposeB: boolean,
  m: number,
  n: number,
  k: number,
  a: number,
  lda: number,
  b: number,
  ldb: number,
  beta: number,
  c: number,
  ldc: number,
) => void;

export interface Blas {
  /** Name or path of the library. */
  readonly path: string;
  /** Version and kernels in use, on which the last bits of results depend: `OpenBLAS 0.3.21 SkylakeX`. */
  readonly version: string;
  readonly sgemm: Sgemm;
  /** Threads that the library itself may use, for the whole process. */
  setThreads(count: number): void;
}

/**
 * Tells OpenBLAS which of its kernels this processor can run, before it is loaded for the first time. Versions that do not know the
 * processor's model fall back to kernels of 2004, five times slower. What the user has set stays.
 */
export function hintBlasKernels(): void {
  if (process.platform !== 'linux' || process.arch !== 'x64' || !isFfiAvailable()) return;
  let flags: readonly string[];
  try {
    flags = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'latin1'))?.[1]?.trim().split(/\s+/) ?? [];
  } catch {
    return;
  }
  const has = (...names: readonly string[]) => names.every((name) => flags.includes(name));
  const core = has('avx512f', 'avx512bw', 'avx512dq', 'avx512vl') ? 'SkylakeX' : has('avx2', 'fma') ? 'Haswell' : null;
  if (core !== null) openProcess().declare('setenv', 'int', ['str', 'str', 'int'])('OPENBLAS_CORETYPE', core, 0);
}

/**
 * Opens OpenBLAS in this thread and holds it to one thread of its own.
 * @param path a library, or 'auto' for the system's.
 * @throws NativeError when there is none.
 */
export function openBlas(path: string): Blas {
  const library = openLibrary(path === 'auto' ? blasNames : path, { keep: true });
  const sgemm = library.declare('cblas_sgemm', 'void', [
    'int',
    'int',
    'int',
    'int',
    'int',
    'int',
    'float',
    'uintptr_t',
    'int',
    'uintptr_t',
    'int',
    'float',
    'uintptr_t',
    'int',
  ]);
  const setThreads = library.declare('openblas_set_num_threads', 'void', ['int']);
  setThreads(1);
  // For example "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY SkylakeX MAX_THREADS=64".
  const [name, number] = (library.declare('openblas_get_config', 'str', [])() ?? '').split(' ');
  const core = library.declare('openblas_get_corename', 'str', [])() ?? '';
  return {
    path: library.path,
    version: `${name} ${number} ${core}`,
    sgemm: (transposeB, m, n, k, a, lda, b, ldb, beta, c, ldc) =>
      void sgemm(rowMajor, plain, transposeB ? transposed : plain, m, n, k, 1, a, lda, b, ldb, beta, c, ldc),
    setThreads: (count) => void setThreads(count),
  };
}

/** Where the shared memory lies in the process. */
export function baseAddress(memory: WebAssembly.Memory): number {
  return Number(addressOf(new Uint8Array(memory.buffer, 0, 64)));
}

/** Products by OpenBLAS on the shared memory. */
export function blasProducts({ sgemm }: Blas, base: number): Products {
  return {
    layout: 'rows',
    tile: { m: 256, n: 256, k: Number.POSITIVE_INFINITY },
    withWeight({ m, n, k, a, lda, c, ldc, add }, w) {
      const b = base + w.address + (w.n0 * w.k + w.k0) * 4;
      sgemm(true, m, n, k, base + a, lda / 4, b, w.k, add ? 1 : 0, base + c, ldc / 4);
    },
    withRows({ m, n, k, a, lda, c, ldc, add }, b, ldb) {
      sgemm(true, m, n, k, base + a, lda / 4, base + b, ldb / 4, add ? 1 : 0, base + c, ldc / 4);
    },
    withColumns({ m, n, k, a, lda, c, ldc, add }, b, ldb) {
      sgemm(false, m, n, k, base + a, lda / 4, base + b, ldb / 4, add ? 1 : 0, base + c, ldc / 4);
    },
  };
}
