// Launches `dequantize_rows`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, indexName, typeNames, vectorWidth } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const dequantizeRowsKernel: KernelSource = {
  file: 'products/dequantize-rows',
  entry: 'dequantize_rows',
  signature: 'pppii',
};

/**
 * @param to `[..., columns]`
 * @param values address of as many E4M3 elements
 * @param scales address of a factor for each row; 0 leaves them out
 */
export function dequantizeRowsInto(r: Runtime, to: CudaTensor, values: number, scales: number): void {
  if (to.count === 0) return;
  const columns = to.shape.at(-1) ?? 1;
  const width = vectorWidth([to, { address: values, dtype: 'f8e4m3' }], [columns]);
  const packs = to.count / width;
  r.run(
    dequantizeRowsKernel,
    { TYPE: typeNames[to.dtype], VEC: width, INDEX: indexName(to.count) },
    { ...flatLaunch(packs), args: [to.address, values, scales, packs, columns / width] },
  );
}
