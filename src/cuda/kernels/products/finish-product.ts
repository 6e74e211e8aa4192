// Launches `finish_product`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, indexName, typeNames, vectorWidth } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const finishProductKernel: KernelSource = {
  file: 'products/finish-product',
  entry: 'finish_product',
  signature: 'ppppii',
};

export interface FinishedProduct {
  readonly y: CudaTensor; // [..., N], changed
  /** Addresses of float32 factors of rows and of columns; null where the product has them in. */
  readonly scales: { readonly rows: number; readonly columns: number } | null;
  readonly bias: CudaTensor | null; // [N]
}

export function finishProduct(r: Runtime, { y, scales, bias }: FinishedProduct): void {
  if (y.count === 0 || (!scales && !bias)) return;
  const n = y.shape.at(-1) ?? 1;
  const columns = scales ? [{ address: scales.columns, dtype: 'f32' as const }] : [];
  const width = vectorWidth([y, ...columns, ...(bias ? [bias] : [])], [n]);
  const packs = y.count / width;
  r.run(
    finishProductKernel,
    { TYPE: typeNames[y.dtype], BIAS: typeNames[bias?.dtype ?? 'f32'], VEC: width, INDEX: indexName(y.count) },
    {
      ...flatLaunch(packs),
      args: [y.address, scales?.rows ?? 0, scales?.columns ?? 0, bias?.address ?? 0, packs, n / width],
    },
  );
}
