// Launches `activation`.
import type { Activation } from '../../../backend/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, indexName, typeNames, vectorWidth } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const activationKernel: KernelSource = { file: 'pointwise/activation', entry: 'activation', signature: 'ppi' };

/** Numbers of the activations in `common.cuh`; 0 is none. */
export const activationNumbers: Readonly<Record<Activation, number>> = { silu: 1, relu2: 2, gelu: 3, abs: 4 };

export function activateInto(r: Runtime, to: CudaTensor, x: CudaTensor, kind: Activation): void {
  if (to.count === 0) return;
  const width = vectorWidth([to, x], [x.count]);
  const packs = x.count / width;
  r.run(
    activationKernel,
    { TYPE: typeNames[x.dtype], KIND: activationNumbers[kind], VEC: width, INDEX: indexName(x.count) },
    { ...flatLaunch(packs), args: [to.address, x.address, packs] },
  );
}
