// Launches `swiglu`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, indexName, typeNames, vectorWidth } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const swigluKernel: KernelSource = { file: 'pointwise/swiglu', entry: 'swiglu', signature: 'ppii' };

/** `x [S, 2F]`, gate first, into `to [S, F]`. */
export function swigluInto(r: Runtime, to: CudaTensor, x: CudaTensor): void {
  if (to.count === 0) return;
  const half = to.shape.at(-1) ?? 1;
  const width = vectorWidth([to, x], [half]);
  const packs = to.count / width;
  r.run(
    swigluKernel,
    { TYPE: typeNames[x.dtype], VEC: width, INDEX: indexName(x.count) },
    { ...flatLaunch(packs), args: [to.address, x.address, packs, half / width] },
  );
}
