// Launches `snake`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, indexName, typeNames } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const snakeKernel: KernelSource = { file: 'pointwise/snake', entry: 'snake', signature: 'ppppii' };

/** `alpha` and `beta` have one dtype. */
export function snakeInto(r: Runtime, to: CudaTensor, x: CudaTensor, alpha: CudaTensor, beta: CudaTensor): void {
  if (to.count === 0) return;
  r.run(
    snakeKernel,
    { TYPE: typeNames[x.dtype], TABLE: typeNames[alpha.dtype], INDEX: indexName(x.count) },
    { ...flatLaunch(x.count), args: [to.address, x.address, alpha.address, beta.address, x.count, alpha.count] },
  );
}
