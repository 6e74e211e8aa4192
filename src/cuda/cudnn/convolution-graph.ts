// A convolution of a clip with its bias as a graph of cuDNN's: channels last, float32 sums, bfloat16 in and out.
import {
  cudnnBackendAttributeName as attribute,
  CUDNN_CROSS_CORRELATION,
  CUDNN_POINTWISE_ADD,
  cudnnDataType,
  cudnnBackendDescriptorType as descriptor,
  cudnnBackendAttributeType as type,
} from '../ffi/cudnn.js';
import type { Descriptors, TensorSpec } from './descriptors.js';
import type { GraphRecipe } from './execution-plan.js';

type Three = readonly [number, number, number];

/** Sizes of a convolution `x [T, H, W, C]` by `w [O, kT, kH, kW, C]`; zeros before and after each axis. */
export interface ConvolutionSizes {
  readonly input: Three;
  readonly output: Three;
  readonly kernel: Three;
  readonly stride: Three;
  readonly dilation: Three;
  readonly before: Three;
  readonly after: Three;
  readonly channels: number;
  readonly outputs: number;
  /** Of bfloat16, `[O]`. */
  readonly hasBias: boolean;
}

/** Batch, spatial axes and channels of a tensor whose channels are fastest, as cuDNN counts: batch, channels, axes. */
function channelsLast(batch: number, axes: readonly number[], channels: number): Pick<TensorSpec, 'sizes' | 'strides'> {
  const strides: number[] = [];
  let pitch = channels;
  for (const size of [...axes].reverse()) {
    strides.unshift(pitch);
    pitch *= size;
  }
  return { sizes: [batch, channels, ...axes], strides: [pitch, 1, ...strides] };
}

/** Operands of a run, in order: x, w, y, and the bias where there is one. */
export function convolutionRecipe(sizes: ConvolutionSizes): GraphRecipe {
  const { input, output, kernel, stride, dilation, before, after, channels, outputs, hasBias } = sizes;
  // Frames that no kernel joins are a batch of pictures, for which cuDNN has more engines.
  const isFlat = kernel[0] === 1 && stride[0] === 1 && before[0] === 0 && after[0] === 0;
  const axes = <T>(three: readonly T[]) => (isFlat ? three.slice(1) : three);
  const batch = ([t]: Three) => (isFlat ? t : 1);
  const bfloat16 = cudnnDataType.BFLOAT16;
  const y = channelsLast(batch(output), axes(output), outputs);
  return {
    key: `convolution ${JSON.stringify([input, output, kernel, stride, dilation, before, after, channels, outputs, hasBias])}`,
    uids: hasBias ? [1, 2, 3, 4] : [1, 2, 3],
    build(d) {
      const result = d.tensor({ uid: 3, dtype: bfloat16, ...y });
      const sum = hasBias ? d.tensor({ uid: 10, dtype: cudnnDataType.FLOAT, ...y, isVirtual: true }) : result;
      const how = d.make(descriptor.CONVOLUTION);
      d.setChoice(how, attribute.CONVOLUTION_COMP_TYPE, type.DATA_TYPE, cudnnDataType.FLOAT);
      d.setChoice(how, attribute.CONVOLUTION_CONV_MODE, type.CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
      d.setIntegers(how, attribute.CONVOLUTION_DILATIONS, axes(dilation));
      d.setIntegers(how, attribute.CONVOLUTION_FILTER_STRIDES, axes(stride));
      d.setIntegers(how, attribute.CONVOLUTION_PRE_PADDINGS, axes(before));
      d.setIntegers(how, attribute.CONVOLUTION_POST_PADDINGS, axes(after));
      d.setIntegers(how, attribute.CONVOLUTION_SPATIAL_DIMS, [axes(kernel).length]);
      d.finalize(how);
      const operation = d.make(descriptor.OPERATION_CONVOLUTION_FORWARD);
      const x = d.tensor({ uid: 1, dtype: bfloat16, ...channelsLast(batch(input), axes(input), channels) });
      const w = d.tensor({ uid: 2, dtype: bfloat16, ...channelsLast(outputs, axes(kernel), channels) });
      d.link(operation, attribute.OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how);
      d.link(operation, attribute.OPERATION_CONVOLUTION_FORWARD_X, x);
      d.link(operation, attribute.OPERATION_CONVOLUTION_FORWARD_W, w);
      d.link(operation, attribute.OPERATION_CONVOLUTION_FORWARD_Y, sum);
      d.set(operation, attribute.OPERATION_CONVOLUTION_FORWARD_ALPHA, type.FLOAT, Float32Array.of(1));
      d.set(operation, attribute.OPERATION_CONVOLUTION_FORWARD_BETA, type.FLOAT, Float32Array.of(0));
      d.finalize(operation);
      if (!hasBias) return [operation];
      const shift = { uid: 4, dtype: bfloat16, ...channelsLast(1, axes([1, 1, 1]), outputs) };
      return [operation, addBias(d, { sum, bias: d.tensor(shift), result })];
    },
  };
}

function addBias(
  d: Descriptors,
  { sum, bias, result }: { readonly sum: number; readonly bias: number; readonly result: number },
): number {
  const how = d.make(descriptor.POINTWISE);
  d.setChoice(how, attribute.POINTWISE_MODE, type.POINTWISE_MODE, CUDNN_POINTWISE_ADD);
  d.setChoice(how, attribute.POINTWISE_MATH_PREC, type.DATA_TYPE, cudnnDataType.FLOAT);
  d.finalize(how);
  const operation = d.make(descriptor.OPERATION_POINTWISE);
  d.link(operation, attribute.OPERATION_POINTWISE_PW_DESCRIPTOR, how);
  d.link(operation, attribute.OPERATION_POINTWISE_XDESC, sum);
  d.link(operation, attribute.OPERATION_POINTWISE_BDESC, bias);
  d.link(operation, attribute.OPERATION_POINTWISE_YDESC, result);
  return d.finalize(operation);
}
