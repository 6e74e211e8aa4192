// Launches `add_rows`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, indexName, typeNames, vectorWidth } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const addRowsKernel: KernelSource = { file: 'pointwise/add-rows', entry: 'add_rows', signature: 'ppppii' };

/** `x [S, C] + mask [S] * row [C]`; the mask is float32. */
export function addRowsInto(r: Runtime, to: CudaTensor, x: CudaTensor, row: CudaTensor, mask: CudaTensor): void {
  if (to.count === 0) return;
  const width = vectorWidth([to, x, row], [row.count]);
  const packs = x.count / width;
  r.run(
    addRowsKernel,
    { TYPE: typeNames[x.dtype], ROW: typeNames[row.dtype], VEC: width, INDEX: indexName(x.count) },
    { ...flatLaunch(packs), args: [to.address, x.address, row.address, mask.address, packs, row.count / width] },
  );
}
