// Launches `linear_combination`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, indexName, typeNames, vectorWidth } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const combinationKernel: KernelSource = {
  file: 'pointwise/linear-combination',
  entry: 'linear_combination',
  signature: 'pppis',
};

/** `to` may be one of the terms. */
export function combineInto(
  r: Runtime,
  to: CudaTensor,
  terms: readonly CudaTensor[],
  coefficients: CudaTensor,
  step: CudaTensor,
): void {
  if (to.count === 0) return;
  const width = vectorWidth([to, ...terms], [to.count]);
  const packs = to.count / width;
  const struct = new BigUint64Array(terms.map(({ address }) => BigInt(address)));
  r.run(
    combinationKernel,
    { TYPE: typeNames[to.dtype], COUNT: terms.length, VEC: width, INDEX: indexName(to.count) },
    {
      ...flatLaunch(packs),
      args: [to.address, coefficients.address, step.address, packs],
      struct: new Uint8Array(struct.buffer),
    },
  );
}
