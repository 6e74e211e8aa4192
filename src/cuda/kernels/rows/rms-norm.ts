// Launches `rms_norm`.
import type { Activation } from '../../../backend/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { typeNames, vectorWidth } from '../elementwise.js';
import { activationNumbers } from '../pointwise/activation.js';
import type { KernelSource } from '../sources.js';
import { rowLaunch } from './row-launch.js';

const rmsNormKernel: KernelSource = { file: 'rows/rms-norm', entry: 'rms_norm', signature: 'pppif' };

export interface RmsNorm {
  readonly weight: CudaTensor;
  readonly eps: number;
  readonly activation: Activation | undefined;
}

export function rmsNormInto(r: Runtime, to: CudaTensor, x: CudaTensor, { weight, eps, activation }: RmsNorm): void {
  const c = weight.count;
  if (to.count === 0) return;
  const width = vectorWidth([to, x, weight], [c]);
  const { defines, launch } = rowLaunch(x.count / c, c, width);
  r.run(
    rmsNormKernel,
    {
      TYPE: typeNames[x.dtype],
      TABLE: typeNames[weight.dtype],
      KIND: activation ? activationNumbers[activation] : 0,
      ...defines,
    },
    { ...launch, args: [to.address, x.address, weight.address, x.count / c, eps] },
  );
}
