// Launches `rope`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, indexName, typeNames } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const ropeKernel: KernelSource = { file: 'rows/rope', entry: 'rope', signature: 'ppppiii' };

/** `x [S, H, d]`; `cos` and `sin` `[S, d]` have one dtype. */
export function ropeInto(r: Runtime, to: CudaTensor, x: CudaTensor, cos: CudaTensor, sin: CudaTensor): void {
  if (to.count === 0) return;
  const [, heads = 1, d = 1] = x.shape;
  const count = x.count / 2;
  r.run(
    ropeKernel,
    { TYPE: typeNames[x.dtype], TABLE: typeNames[cos.dtype], INDEX: indexName(x.count) },
    { ...flatLaunch(count), args: [to.address, x.address, cos.address, sin.address, count, heads, d] },
  );
}
