// Launches `add` and `multiply`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, indexName, typeNames, vectorWidth } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const kernels: Readonly<Record<'add' | 'multiply', KernelSource>> = {
  add: { file: 'pointwise/arithmetic', entry: 'add', signature: 'pppii' },
  multiply: { file: 'pointwise/arithmetic', entry: 'multiply', signature: 'pppii' },
};

/** `b` repeats along the leading axes of `a`. */
export function pairInto(r: Runtime, op: 'add' | 'multiply', to: CudaTensor, a: CudaTensor, b: CudaTensor): void {
  if (to.count === 0) return;
  const width = vectorWidth([to, a, b], [a.count, b.count]);
  const packs = a.count / width;
  r.run(
    kernels[op],
    { TYPE: typeNames[a.dtype], VEC: width, INDEX: indexName(a.count) },
    { ...flatLaunch(packs), args: [to.address, a.address, b.address, packs, b.count / width] },
  );
}
