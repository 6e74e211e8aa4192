// Launches `upsample_nearest`.
import { dtypeBytes } from '../../../backend/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, indexName, unitName, widestUnit } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const upsampleKernel: KernelSource = {
  file: 'layout/upsample-nearest',
  entry: 'upsample_nearest',
  signature: 'ppiiii',
};

/** `x [T, H, W, C]` into `to [T, H factor, W factor, C]`. */
export function upsampleInto(r: Runtime, to: CudaTensor, x: CudaTensor, factor: number): void {
  if (to.count === 0) return;
  const [, , width = 1, channels = 1] = x.shape;
  const pixel = channels * dtypeBytes(x.dtype);
  const unit = widestUnit(16, [pixel, to.address, x.address]);
  const count = to.byteLength / unit;
  r.run(
    upsampleKernel,
    { UNIT: unitName(unit), INDEX: indexName(count) },
    { ...flatLaunch(count), args: [to.address, x.address, count, width, pixel / unit, factor] },
  );
}
