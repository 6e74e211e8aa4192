// Weights of the CPU device: the stored bytes stay where they are; packed copies are made for a product and kept while there is room.

import type { WeightUse } from '../../backend/index.js';
import { type DType, dtypeBytes, elementCount, type HostTensor, ShapeError, type Weight } from '../../backend/index.js';

type Shape = readonly number[];

/** Dtype numbers of the kernels. */
export const floatNumbers: Readonly<Partial<Record<DType, number>>> = { f32: 0, f16: 1, bf16: 2, f8e4m3: 3, f8e5m2: 4 };

const ranks: Readonly<Record<WeightUse, number>> = {
  matrix: 2,
  table: 2,
  convolution: 5,
  'transposed-convolution': 3,
};

/** A packed copy in the shared memory. */
export interface Packed {
  readonly address: number;
  readonly bytes: number;
  readonly groups: number;
}

export class CpuWeight implements Weight {
  readonly shape: Shape;
  readonly dtype: DType;
  readonly format = 'dense';
  /** Kept by the weight store; null while there is none. */
  packed: Packed | null = null;
  readonly #release: (weight: CpuWeight) => void;

  /** @throws ShapeError when the parts do not fit together or are not float. */
  constructor(
    readonly parts: readonly HostTensor[],
    readonly use: WeightUse,
    release: (weight: CpuWeight) => void,
  ) {
    const first = parts[0];
    if (!first) throw new ShapeError('weight', 'no parts');
    const inner = first.shape.slice(1);
    let rows = 0;
    for (const part of parts) {
      checkPart(part, use, inner);
      rows += part.shape[0] ?? 0;
    }
    this.shape = [rows, ...inner];
    this.dtype = first.dtype;
    this.#release = release;
  }

  [Symbol.dispose](): void {
    this.#release(this);
  }
}

function checkPart(part: HostTensor, use: WeightUse, inner: Shape): void {
  const { shape, dtype, scale, bytes } = part;
  const shown = `${dtype} [${shape.join(', ')}]`;
  if (shape.length !== ranks[use] || shape.slice(1).some((size, i) => size !== inner[i]))
    throw new ShapeError('weight', `${shown} as part of a ${use} [N, ${inner.join(', ')}]`);
  if (floatNumbers[dtype] === undefined) throw new ShapeError('weight', `${shown} is not a float dtype`);
  if (bytes.byteLength !== elementCount(shape) * dtypeBytes(dtype))
    throw new ShapeError('weight', `${shown} with ${bytes.byteLength} bytes`);
  const scales = scale ? elementCount(scale.shape) : 1;
  if (scale && (scale.dtype !== 'f32' || (scales !== 1 && scales !== shape[0])))
    throw new ShapeError('weight', `${scales} ${scale.dtype} scales for ${shown}`);
}

export function ownWeight(w: Weight): CpuWeight {
  if (w instanceof CpuWeight) return w;
  throw new ShapeError('cpu', 'a weight of another device');
}

/** Dequantisation factors of rows `start..end` of a part, or null when it has none. */
export function rowScales({ scale }: HostTensor, start: number, end: number): Float32Array | null {
  if (!scale) return null;
  const view = new DataView(scale.bytes.buffer, scale.bytes.byteOffset, scale.bytes.byteLength);
  const single = elementCount(scale.shape) === 1;
  return Float32Array.from({ length: end - start }, (_, i) => view.getFloat32(single ? 0 : 4 * (start + i), true));
}
