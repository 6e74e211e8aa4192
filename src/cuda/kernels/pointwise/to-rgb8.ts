// Launches `to_rgb8`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, indexName, typeNames, vectorWidth } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const rgbKernel: KernelSource = { file: 'pointwise/to-rgb8', entry: 'to_rgb8', signature: 'ppi' };

export function toRgb8Into(r: Runtime, to: CudaTensor, x: CudaTensor): void {
  if (to.count === 0) return;
  const width = vectorWidth([to, x], [x.count]);
  const packs = x.count / width;
  r.run(
    rgbKernel,
    { TYPE: typeNames[x.dtype], VEC: width, INDEX: indexName(x.count) },
    { ...flatLaunch(packs), args: [to.address, x.address, packs] },
  );
}
