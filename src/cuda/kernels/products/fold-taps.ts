// Launches `fold_taps`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, typeNames } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const foldTapsKernel: KernelSource = { file: 'products/fold-taps', entry: 'fold_taps', signature: 'pppiiiiii' };

export interface FoldTaps {
  readonly to: CudaTensor; // [T', O]
  readonly products: CudaTensor; // [T, O, taps], float32
  readonly bias: CudaTensor | null; // [O]
  readonly stride: number;
  readonly padding: number;
}

export function foldTaps(r: Runtime, { to, products, bias, stride, padding }: FoldTaps): void {
  const [rows = 0, outputs = 0, taps = 0] = products.shape;
  if (to.count === 0) return;
  r.run(
    foldTapsKernel,
    { TYPE: typeNames[to.dtype], BIAS: typeNames[bias?.dtype ?? 'f32'] },
    {
      ...flatLaunch(to.count),
      args: [to.address, products.address, bias?.address ?? 0, to.count, rows, outputs, taps, stride, padding],
    },
  );
}
