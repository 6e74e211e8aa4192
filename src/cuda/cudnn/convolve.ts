// Convolutions by cuDNN where it serves: bfloat16, one group, channels in eights, work enough that planning it pays.
import { castInto } from '../kernels/layout/cast.js';
import type { ConvOperands, ConvSizes } from '../kernels/products/conv.js';
import type { Runtime } from '../runtime/runtime.js';
import { convolutionRecipe } from './convolution-graph.js';
import { describeConvolution } from './kernel-choices.js';

/**
 * Convolves by cuDNN. A float32 bias is rounded to bfloat16: the engines that are compiled beforehand, and fastest, take no other.
 * @returns its name and engine, or null where it does not serve these operands: nothing was enqueued then.
 * @throws CudaError when a plan that cuDNN made does not run.
 */
export function convolveByCudnn(r: Runtime, sizes: ConvSizes, { dtype, x, w, y, bias }: ConvOperands): string | null {
  const { input, output, kernel, stride, dilation, before, channels, outputs, groups } = sizes;
  const points = output[0] * output[1] * output[2];
  const work = points * kernel[0] * kernel[1] * kernel[2] * channels * outputs;
  const isWide = channels % 8 === 0 && outputs % 4 === 0;
  if (dtype !== 'bf16' || groups !== 1 || !isWide || !r.cudnn.isWorth(work)) return null;
  if ([x, w, y, bias?.address ?? 0].some((address) => address % 16 !== 0)) return null;
  const recipe = convolutionRecipe({
    ...{ input, output, kernel, stride, dilation, before, channels, outputs },
    after: [zerosAfter(sizes, 0), zerosAfter(sizes, 1), zerosAfter(sizes, 2)],
    hasBias: bias !== null,
  });
  const plan = r.cudnn.planFor(recipe);
  if (!plan) {
    r.choices.note('convolution', `${describeConvolution(sizes)} by cuDNN`, r.cudnn.reasonAgainst(recipe));
    return null;
  }
  r.tensors.run(() => {
    const workspace = r.tensors.make([plan.workspaceBytes], 'u8').address;
    const shift = bias ? [narrow(r, bias, outputs)] : [];
    r.cudnn.run(plan, [x, w, y, ...shift], workspace);
    return null;
  });
  return `${r.cudnn.name} engine ${plan.engine}`;
}

/** The bias in bfloat16, a temporary where it is not. */
function narrow(r: Runtime, { address, dtype }: NonNullable<ConvOperands['bias']>, outputs: number): number {
  if (dtype === 'bf16') return address;
  const rounded = r.tensors.make([outputs], 'bf16');
  castInto(r, rounded, r.tensors.borrow(address, [outputs], dtype));
  return rounded.address;
}

/** Zeros behind an axis as far as the last output point reads: an uneven stride may leave some of the caller's untouched. */
function zerosAfter({ input, output, kernel, stride, dilation, before }: ConvSizes, axis: 0 | 1 | 2): number {
  const reach = (output[axis] - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1;
  return Math.max(0, reach - before[axis] - input[axis]);
}
