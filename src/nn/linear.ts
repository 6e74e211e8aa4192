// Linear layers: `y = x W^T + b`. Several stored matrices may be merged into one product (QKV, gate and up).
import { type Backend, type Tensor, uploadFloats, type Weight } from '../backend/index.js';
import { toFloat32, type WeightReader } from '../weights/index.js';

export interface Linear {
  readonly weight: Weight; // [N, K]
  readonly bias?: Tensor; // [N]
}

/** One stored matrix of a linear layer: its name without `.weight`, and its rows. */
export interface LinearPart {
  readonly name: string;
  readonly rows: number;
}

/**
 * Reads `NAME.weight [rows, columns]` of each part and merges them along the rows.
 * @throws WeightError where a tensor is missing or misshaped.
 */
export function readLinear(b: Backend, reader: WeightReader, parts: readonly LinearPart[], columns: number): Linear {
  const stored = parts.map(({ name, rows }) => reader.read(`${name}.weight`, [rows, columns]));
  return { weight: b.weight(stored, 'matrix') };
}

/** Reads `NAME.weight [rows, columns]` and `NAME.bias [rows]`. */
export function readBiasedLinear(
  b: Backend,
  reader: WeightReader,
  name: string,
  rows: number,
  columns: number,
): Linear {
  return {
    weight: b.weight([reader.read(`${name}.weight`, [rows, columns])], 'matrix'),
    bias: readVector(b, reader, `${name}.bias`, rows),
  };
}

/** A vector (norm weight, bias, embedding), kept in float32. */
export function readVector(b: Backend, reader: WeightReader, name: string, length: number): Tensor {
  const values = toFloat32(reader.read(name, [length]));
  return uploadFloats(b, values, [length]);
}

/** `x [..., K]` to `[..., N]`. */
export function linear(b: Backend, layer: Linear, x: Tensor): Tensor {
  return b.matmul(x, layer.weight, layer.bias ? { bias: layer.bias } : {});
}
