// Convolutions along a line `[T, C]`: clips one frame and one point high, with weight normalisation folded at load.
import { type Backend, elementCount, type HostTensor, type Tensor, type Weight } from '../backend/index.js';
import { toFloat32, type WeightReader } from '../weights/index.js';
import { readVector } from './linear.js';

export interface Conv1d {
  readonly weight: Weight; // [O, C/groups, 1, 1, k]
  readonly bias?: Tensor; // [O]
}

/** A transposed convolution: each input point makes `stride` output points. */
export interface ConvTranspose1d {
  readonly weight: Weight; // [C, O, k]
  readonly bias: Tensor; // [O]
  readonly stride: number;
}

export interface Conv1dOptions {
  readonly stride?: number;
  /** Zeros on both sides. */
  readonly padding?: number;
  readonly dilation?: number;
  readonly groups?: number;
}

/**
 * Reads `NAME.weight_g [N, 1, 1]` and `NAME.weight_v [N, M, k]` as the weight `g v / ||v||`, the norm taken over all axes
 * but the first, float32. Source: Salimans and Kingma 2016, eq. 2.
 * @throws WeightError where one is missing or misshaped.
 */
export function readWeightNorm(
  reader: WeightReader,
  name: string,
  shape: readonly [number, number, number],
): HostTensor {
  const gain = toFloat32(reader.read(`${name}.weight_g`, [shape[0], 1, 1]));
  const values = toFloat32(reader.read(`${name}.weight_v`, shape));
  const size = elementCount(shape.slice(1));
  for (const [row, g] of gain.entries()) {
    const vector = values.subarray(row * size, (row + 1) * size);
    const norm = Math.sqrt(vector.reduce((sum, v) => sum + v * v, 0));
    for (const [i, v] of vector.entries()) vector[i] = norm > 0 ? (g * v) / norm : 0;
  }
  return hostFloats(values, shape);
}

/** Reads a weight-normalised convolution stored `[O, C, k]`, and its bias where it has one. */
export function readNormedConv1d(
  b: Backend,
  reader: WeightReader,
  name: string,
  shape: readonly [output: number, input: number, kernel: number],
  { bias }: { readonly bias: boolean },
): Conv1d {
  return {
    weight: lineWeight(b, readWeightNorm(reader, name, shape)),
    ...(bias && { bias: readVector(b, reader, `${name}.bias`, shape[0]) }),
  };
}

/** A stored `[O, C, k]` kernel as one that is one frame and one point high. */
export function lineWeight(b: Backend, stored: HostTensor): Weight {
  const [output = 0, input = 0, kernel = 0] = stored.shape;
  return b.weight([{ ...stored, shape: [output, input, 1, 1, kernel] }], 'convolution');
}

/** Reads a weight-normalised transposed convolution stored `[C, O, 2 stride]`. */
export function readNormedConvTranspose1d(
  b: Backend,
  reader: WeightReader,
  name: string,
  { input, output, stride }: { readonly input: number; readonly output: number; readonly stride: number },
): ConvTranspose1d {
  return {
    weight: b.weight([readWeightNorm(reader, name, [input, output, 2 * stride])], 'transposed-convolution'),
    bias: readVector(b, reader, `${name}.bias`, output),
    stride,
  };
}

/** `x [T, C]` to `[T', O]`. */
export function conv1d(b: Backend, layer: Conv1d, x: Tensor, options: Conv1dOptions = {}): Tensor {
  const { stride = 1, padding = 0, dilation = 1, groups = 1 } = options;
  const [length = 0, channels = 0] = x.shape;
  const y = b.conv(b.view(x, [1, 1, length, channels]), layer.weight, {
    ...(layer.bias && { bias: layer.bias }),
    stride: [1, 1, stride],
    padding: [
      [0, 0],
      [0, 0],
      [padding, padding],
    ],
    dilation: [1, 1, dilation],
    groups,
  }); // [1, 1, T', O]
  return b.view(y, y.shape.slice(2));
}

/** `x [T, C]` to `[T stride, O]`. */
export function convTranspose1d(b: Backend, { weight, bias, stride }: ConvTranspose1d, x: Tensor): Tensor {
  return b.convTranspose(x, weight, { bias, stride, padding: Math.ceil(stride / 2), outputPadding: stride % 2 });
}

export function hostFloats(values: Float32Array, shape: readonly number[]): HostTensor {
  return { shape, dtype: 'f32', bytes: new Uint8Array(values.buffer, values.byteOffset, values.byteLength) };
}
