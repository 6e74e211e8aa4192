// Linear layers: `y = x W^T + b`. Several stored matrices may be merged into one product (QKV, gate and up).
import {
  type Backend,
  isQuantized,
  type Rows,
  type Tensor,
  uploadFloats,
  type Weight,
  type WeightFormat,
} from '../backend/index.js';
import { toFloat32, type WeightReader } from '../weights/index.js';

export interface Linear {
  readonly weight: Weight; // [N, K]
  readonly bias?: Tensor; // [N]
  /** Rows are quantised before the product. Else an FP8 weight counts as the numbers it stands for. */
  readonly quantizesRows?: boolean;
  /** The rows as they were before quantisation, where they are kept for steps that run wide. */
  readonly wide?: Weight; // [N, K]
}

/** How a linear layer keeps its weight. */
export interface LinearFormat {
  readonly format: WeightFormat;
  /** Keeps the rows as they were beside an FP8 weight. */
  readonly keepWide: boolean;
}

export const dense: LinearFormat = { format: 'dense', keepWide: false };

/** One stored matrix of a linear layer: its name without `.weight`, and its rows. */
export interface LinearPart {
  readonly name: string;
  readonly rows: number;
}

/**
 * Reads `NAME.weight [rows, columns]` of each part and merges them along the rows.
 * @throws WeightError where a tensor is missing or misshaped.
 */
export function readLinear(
  b: Backend,
  reader: WeightReader,
  parts: readonly LinearPart[],
  columns: number,
  { format, keepWide }: LinearFormat = dense,
): Linear {
  const stored = parts.map(({ name, rows }) => reader.read(`${name}.weight`, [rows, columns]));
  if (format === 'dense') return { weight: b.weight(stored, 'matrix') };
  return {
    weight: b.weight(stored, 'matrix', { format }),
    quantizesRows: true,
    ...(keepWide && { wide: b.weight(stored, 'matrix') }),
  };
}

/** The same layer without quantised rows, by its kept wide weight where it has one. */
export function widened(layer: Linear): Linear {
  const { weight, wide, bias } = layer;
  return { weight: wide ?? weight, ...(bias && { bias }) };
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
export function linear(b: Backend, layer: Linear, x: Rows): Tensor {
  const rows = layer.quantizesRows && !isQuantized(x) ? b.quantizeRows(x) : x;
  return b.matmul(rows, layer.weight, layer.bias ? { bias: layer.bias } : {});
}
