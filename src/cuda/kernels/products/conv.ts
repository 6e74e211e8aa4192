// Launches `conv`: convolutions of clips, and plain products as convolutions with one tap.
import type { DType } from '../../../backend/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import { typeNames } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const convKernel: KernelSource = { file: 'products/conv', entry: 'conv', signature: 'pppps' };

type Three = readonly [number, number, number];

/** Sizes of a convolution; `channels` and `outputs` are those of one group. */
export interface ConvSizes {
  readonly input: Three; // T, H, W
  readonly output: Three; // T', H', W'
  readonly kernel: Three;
  readonly stride: Three;
  readonly before: Three;
  readonly dilation: Three;
  readonly channels: number;
  readonly outputs: number;
  readonly groups: number;
}

export interface ConvOperands {
  readonly dtype: 'f32' | 'bf16';
  readonly outputDtype: 'f32' | 'bf16';
  readonly x: number; // [T, H, W, groups channels]
  readonly w: number; // [groups outputs, taps, channels]
  readonly y: number; // [T', H', W', groups outputs]
  /** Address and dtype, or null. */
  readonly bias: { readonly address: number; readonly dtype: DType } | null;
}

/** Rows and columns of a block's tile, and its shared memory, as the kernel has them. */
const tensorTile = { m: 128, n: 128, shared: 4 * (128 + 128) * (32 + 8) * 2 };
const plainTile = { m: 64, n: 64, shared: 0 };

/** A product `x [rows, depth]` by `w [columns, depth]`. */
export function productSizes(rows: number, depth: number, columns: number): ConvSizes {
  const one: Three = [1, 1, 1];
  return {
    input: [1, 1, rows],
    output: [1, 1, rows],
    kernel: one,
    stride: one,
    before: [0, 0, 0],
    dilation: one,
    channels: depth,
    outputs: columns,
    groups: 1,
  };
}

export function launchConv(r: Runtime, sizes: ConvSizes, { dtype, outputDtype, x, w, y, bias }: ConvOperands): void {
  const { input, output, kernel, stride, before, dilation, channels, outputs, groups } = sizes;
  const rows = output[0] * output[1] * output[2];
  if (rows === 0 || outputs === 0) return;
  const tile = dtype === 'bf16' ? tensorTile : plainTile;
  const columns = Math.ceil(outputs / tile.n);
  const isVector = channels % 8 === 0 && x % 16 === 0 && w % 16 === 0;
  const struct = Int32Array.of(
    ...[...input, channels * groups],
    ...[...output, outputs],
    ...[channels, ...kernel],
    ...stride,
    ...before,
    ...dilation,
    ...[groups, columns],
  );
  r.run(
    convKernel,
    {
      TYPE: typeNames[dtype],
      OUT: typeNames[outputDtype],
      BIAS: typeNames[bias?.dtype ?? 'f32'],
      TENSOR: dtype === 'bf16' ? 1 : 0,
      VECTOR: dtype === 'bf16' && isVector ? 1 : 0,
    },
    {
      grid: [Math.ceil(rows / tile.m) * columns, groups],
      block: 256,
      shared: tile.shared,
      args: [y, x, w, bias?.address ?? 0],
      struct: new Uint8Array(struct.buffer),
    },
  );
}
