// Launches `mean`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, typeNames } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const meanKernel: KernelSource = { file: 'rows/mean', entry: 'mean', signature: 'ppii' };

/** Rows up to this length are one thread's. */
const shortRow = 64;

export function meanInto(r: Runtime, to: CudaTensor, x: CudaTensor): void {
  if (to.count === 0) return;
  const c = x.shape.at(-1) ?? 1;
  const threads = c <= shortRow ? 1 : 32;
  r.run(
    meanKernel,
    { TYPE: typeNames[x.dtype], THREADS: threads },
    { ...flatLaunch(to.count * threads), args: [to.address, x.address, to.count, c] },
  );
}
