// Launches `add_norm`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { typeNames, vectorWidth } from '../elementwise.js';
import type { KernelSource } from '../sources.js';
import { rowLaunch } from './row-launch.js';

const addNormKernel: KernelSource = { file: 'rows/add-norm', entry: 'add_norm', signature: 'ppppppif' };

export interface AddNorm {
  /** Of `x`'s dtype, or E4M3 where there are `scales`. */
  readonly normed: CudaTensor;
  readonly scales: CudaTensor | null; // [rows], float32
  readonly x: CudaTensor;
  /** What is added and where the sum goes; null where `x` is the sum. */
  readonly residual: { readonly y: CudaTensor; readonly sum: CudaTensor } | null;
  readonly weight: CudaTensor; // [C]
  readonly eps: number;
}

export function addNormInto(r: Runtime, { normed, scales, x, residual, weight, eps }: AddNorm): void {
  const c = weight.count;
  if (x.count === 0) return;
  const width = vectorWidth([normed, x, weight, ...(residual ? [residual.y, residual.sum] : [])], [c]);
  const { defines, launch } = rowLaunch(x.count / c, c, width);
  r.run(
    addNormKernel,
    {
      TYPE: typeNames[x.dtype],
      TABLE: typeNames[weight.dtype],
      ADD: residual ? 1 : 0,
      QUANTIZE: scales ? 1 : 0,
      ...defines,
    },
    {
      ...launch,
      args: [
        normed.address,
        scales?.address ?? 0,
        residual?.sum.address ?? 0,
        x.address,
        residual?.y.address ?? 0,
        weight.address,
        x.count / c,
        eps,
      ],
    },
  );
}
