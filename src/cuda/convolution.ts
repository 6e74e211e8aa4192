// Convolutions of clips and their transposed kind along a line.
import * as guards from '../backend/guards.js';
import type { ConvOptions, ConvTransposeOptions, Tensor, Weight } from '../backend/index.js';
import { convolveByCudnn } from './cudnn/convolve.js';
import { describeConvolution } from './cudnn/kernel-choices.js';
import { floatType, type Gemm } from './gemm.js';
import { castInto } from './kernels/layout/cast.js';
import { type ConvSizes, launchConv } from './kernels/products/conv.js';
import { foldTaps } from './kernels/products/fold-taps.js';
import type { Runtime } from './runtime/runtime.js';
import { type CudaTensor, own } from './runtime/tensor.js';
import { type CudaWeight, ownWeight } from './weights/cuda-weight.js';

/** The weight's rows in the dtype of the operand they are multiplied with; a temporary where that differs from what is kept. */
export function rowsAs(r: Runtime, weight: CudaWeight, dtype: 'f32' | 'bf16'): number {
  if (weight.dtype === dtype) return weight.address;
  const kept = r.tensors.borrow(weight.address, weight.shape, weight.dtype);
  const cast = r.tensors.make(weight.shape, dtype);
  castInto(r, cast, kept);
  return cast.address;
}

/** `x [T, H, W, C]` with `w [O, C/groups, kT, kH, kW]`. */
export function conv(r: Runtime, x: Tensor, w: Weight, options: ConvOptions): CudaTensor {
  const shape = guards.convShape(x, w, options);
  const { groups = 1, stride = [1, 1, 1], dilation = [1, 1, 1], padding } = options;
  const [t = 0, h = 0, width = 0] = x.shape;
  const [outputs = 0, channels = 0, kT = 1, kH = 1, kW = 1] = w.shape;
  const [oT = 0, oH = 0, oW = 0] = shape;
  const sizes: ConvSizes = {
    input: [t, h, width],
    output: [oT, oH, oW],
    kernel: [kT, kH, kW],
    stride,
    dilation,
    before: [padding?.[0][0] ?? 0, padding?.[1][0] ?? 0, padding?.[2][0] ?? 0],
    channels,
    outputs: outputs / groups,
    groups,
  };
  const dtype = floatType('conv', x.dtype);
  const y = r.tensors.make(shape, dtype);
  r.tensors.run(() => {
    const rows = rowsAs(r, ownWeight(w), dtype);
    const bias = options.bias ? own(options.bias) : null;
    const operands = { dtype, outputDtype: dtype, x: own(x).address, w: rows, y: y.address, bias };
    const engine = convolveByCudnn(r, sizes, operands);
    if (!engine) launchConv(r, sizes, operands);
    r.choices.note('convolution', describeConvolution(sizes), engine ?? 'own kernel');
    return null;
  });
  return y;
}

/** `x [T, C]` with `w [C, O, k]`: one product for all taps, then each output point sums those that reach it. */
export function convTranspose(r: Runtime, gemm: Gemm, x: Tensor, w: Weight, options: ConvTransposeOptions): CudaTensor {
  const shape = guards.convTransposeShape(x, w, options);
  const [rows = 0, channels = 0] = x.shape;
  const [, outputs = 0, taps = 0] = w.shape;
  const dtype = floatType('convTranspose', x.dtype);
  const y = r.tensors.make(shape, dtype);
  r.tensors.run(() => {
    const products = r.tensors.make([rows, outputs, taps], 'f32');
    gemm.multiply({
      m: rows,
      n: outputs * taps,
      k: channels,
      x: { address: own(x).address, dtype, pitch: channels },
      w: { address: rowsAs(r, ownWeight(w), dtype), dtype, pitch: channels },
      out: { address: products.address, dtype: 'f32', pitch: outputs * taps },
    });
    const { stride, padding, bias } = options;
    foldTaps(r, { to: y, products, bias: bias ? own(bias) : null, stride, padding });
    return null;
  });
  return y;
}
