// Launches `cast`.
import type { DType } from '../../../backend/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, indexName, typeNames, vectorWidth } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const castKernel: KernelSource = { file: 'layout/cast', entry: 'cast', signature: 'ppi' };

const isInteger = (dtype: DType) => dtype === 'i64' || dtype === 'i32' || dtype === 'u8';

/** `x` into `to`, converted where the dtypes differ. */
export function castInto(r: Runtime, to: CudaTensor, x: CudaTensor): void {
  if (to.count === 0) return;
  if (to.dtype === x.dtype) {
    r.stream.copy(to.address, x.address, x.byteLength);
    return;
  }
  const width = vectorWidth([to, x], [x.count]);
  const packs = x.count / width;
  r.run(
    castKernel,
    {
      SRC: typeNames[x.dtype],
      DST: typeNames[to.dtype],
      VALUE: isInteger(x.dtype) || isInteger(to.dtype) ? 'double' : 'float',
      VEC: width,
      INDEX: indexName(x.count),
    },
    { ...flatLaunch(packs), args: [to.address, x.address, packs] },
  );
}
