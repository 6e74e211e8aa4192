// Matrix products of one thread, by the kernels or by a BLAS: the same three forms, so that tiles do not know which.
import type { Kernels } from './kernel-module.js';

/** `C [m, n] = A [m, k] B`, added onto C when `add`. Strides in bytes. */
export interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: number;
  readonly lda: number;
  readonly c: number;
  readonly ldc: number;
  readonly add: boolean;
}

/** Part of a packed weight: columns from `n0` (a multiple of 8), sums from `k0` of `k` values. */
export interface PackedPart {
  readonly address: number;
  readonly n0: number;
  readonly k0: number;
  readonly k: number;
}

/** How packed weights lie: `panels [n / 8][k][8]`, or `rows [n][k]`. */
export type WeightLayout = 'panels' | 'rows';

export interface Products {
  readonly layout: WeightLayout;
  /** Sizes of a tile of the result and of a run of sums. They fix the order of additions. */
  readonly tile: { readonly m: number; readonly n: number; readonly k: number };
  /** B is a packed weight, transposed. */
  withWeight(p: Product, weight: PackedPart): void;
  /** B is `[n, k]`, rows `ldb` bytes apart, transposed. `scratch` has room for B once more, its width rounded up to 8. */
  withRows(p: Product, b: number, ldb: number, scratch: number): void;
  /** B is `[k, n]`, rows `ldb` bytes apart. `scratch` as above. */
  withColumns(p: Product, b: number, ldb: number, scratch: number): void;
}

/** Products by the SIMD kernels. */
export function kernelProducts(kernels: Kernels): Products {
  return {
    layout: 'panels',
    tile: { m: 64, n: 128, k: 256 },
    withWeight({ m, n, k, a, lda, c, ldc, add }, w) {
      const b = w.address + (w.n0 * w.k + w.k0 * 8) * 4;
      kernels.gemm(m, n, k, a, lda, b, 32, w.k * 32, c, ldc, add);
    },
    withRows({ m, n, k, a, lda, c, ldc, add }, b, ldb, scratch) {
      kernels.interleaveRows(scratch, b, ldb, n, k);
      kernels.gemm(m, n, k, a, lda, scratch, 32, k * 32, c, ldc, add);
    },
    withColumns({ m, n, k, a, lda, c, ldc, add }, b, ldb, scratch) {
      // Rows far apart would fall into the same few lines of the nearest cache.
      kernels.panelColumns(scratch, b, ldb, k, n);
      kernels.gemm(m, n, k, a, lda, scratch, 32, k * 32, c, ldc, add);
    },
  };
}
