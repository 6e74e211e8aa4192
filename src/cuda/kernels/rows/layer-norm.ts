// Launches `layer_norm`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { typeNames, vectorWidth } from '../elementwise.js';
import type { KernelSource } from '../sources.js';
import { rowLaunch } from './row-launch.js';

const layerNormKernel: KernelSource = { file: 'rows/layer-norm', entry: 'layer_norm', signature: 'ppppif' };

export interface LayerNorm {
  readonly weight: CudaTensor;
  /** Of the weight's dtype. */
  readonly bias: CudaTensor | null;
  readonly eps: number;
}

export function layerNormInto(r: Runtime, to: CudaTensor, x: CudaTensor, { weight, bias, eps }: LayerNorm): void {
  const c = weight.count;
  if (to.count === 0) return;
  const width = vectorWidth([to, x, weight, ...(bias ? [bias] : [])], [c]);
  const { defines, launch } = rowLaunch(x.count / c, c, width);
  r.run(
    layerNormKernel,
    { TYPE: typeNames[x.dtype], TABLE: typeNames[weight.dtype], BIAS: bias ? 1 : 0, ...defines },
    { ...launch, args: [to.address, x.address, weight.address, bias?.address ?? 0, x.count / c, eps] },
  );
}
