// Weights of a GPU: stored parts merged, dequantised and laid out as products read them, in the device's dtype.
import {
  type DType,
  dtypeBytes,
  elementCount,
  type HostTensor,
  ShapeError,
  type Weight,
  type WeightUse,
} from '../../backend/index.js';
import { packWeight } from '../kernels/products/pack-weight.js';
import type { Runtime } from '../runtime/runtime.js';
import { residentPlace, type WeightPlace } from './weight-place.js';

type Shape = readonly number[];

const ranks: Readonly<Record<WeightUse, number>> = {
  matrix: 2,
  table: 2,
  convolution: 5,
  'transposed-convolution': 3,
};

const floatDtypes: ReadonlySet<DType> = new Set<DType>(['f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2']);

/** Rows of a matrix or table; kernels of a convolution `[O, taps, C]`; of a transposed one `[O, k, C]`. */
export class CudaWeight implements Weight {
  readonly format = 'dense';
  readonly #place: WeightPlace;
  #alive = true;

  constructor(
    readonly shape: Shape,
    readonly dtype: 'f32' | 'bf16',
    readonly use: WeightUse,
    place: WeightPlace,
  ) {
    this.#place = place;
  }

  /** @throws Error after the weight was freed, and where it is not on the device now. */
  get address(): number {
    if (!this.#alive) throw new Error(`weight [${this.shape.join(', ')}] used after it was disposed of`);
    return this.#place.at(0);
  }

  get byteLength(): number {
    return elementCount(this.shape) * dtypeBytes(this.dtype);
  }

  [Symbol.dispose](): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#place.free();
  }
}

/** @throws ShapeError for a weight of another device. */
export function ownWeight(w: Weight): CudaWeight {
  if (w instanceof CudaWeight) return w;
  throw new ShapeError('cuda', 'a weight of another device');
}

/** @throws ShapeError for a part that does not fit its use or its neighbours. */
export function checkPart(part: HostTensor, use: WeightUse, inner: Shape): void {
  const { shape, dtype, scale, bytes } = part;
  const shown = `${dtype} [${shape.join(', ')}]`;
  if (shape.length !== ranks[use] || shape.slice(1).some((size, i) => size !== inner[i]))
    throw new ShapeError('weight', `${shown} as part of a ${use} [N, ${inner.join(', ')}]`);
  if (!floatDtypes.has(dtype)) throw new ShapeError('weight', `${shown} is not a float dtype`);
  if (bytes.byteLength !== elementCount(shape) * dtypeBytes(dtype))
    throw new ShapeError('weight', `${shown} with ${bytes.byteLength} bytes`);
  const scales = scale ? elementCount(scale.shape) : 1;
  if (scale && (scale.dtype !== 'f32' || (scales !== 1 && scales !== shape[0])))
    throw new ShapeError('weight', `${scales} ${scale.dtype} scales for ${shown}`);
}

/**
 * Copies stored parts to the device, merged along the first axis.
 * @throws ShapeError when they do not fit together · OutOfMemoryError
 */
export function makeWeight(r: Runtime, parts: readonly HostTensor[], use: WeightUse): CudaWeight {
  const first = parts[0];
  if (!first) throw new ShapeError('weight', 'no parts');
  const inner = first.shape.slice(1);
  for (const part of parts) checkPart(part, use, inner);
  const rows = parts.reduce((sum, { shape }) => sum + (shape[0] ?? 0), 0);
  const rowBytes = elementCount(inner) * dtypeBytes(r.dtype);
  const address = r.pool.allocate(rows * rowBytes);
  const place = { address, rows, inner, use };
  let start = 0;
  try {
    for (const part of parts) {
      placePart(r, part, place, start);
      start += part.shape[0] ?? 0;
    }
  } catch (error) {
    r.pool.free(address);
    throw error;
  }
  return new CudaWeight([rows, ...inner], r.dtype, use, residentPlace(r.pool, [address]));
}

interface Place {
  readonly address: number;
  readonly rows: number;
  readonly inner: Shape;
  readonly use: WeightUse;
}

function placePart(r: Runtime, part: HostTensor, { address, rows, inner, use }: Place, start: number): void {
  const count = part.shape[0] ?? 0;
  const isTransposed = use === 'transposed-convolution';
  const taps = elementCount(inner.slice(isTransposed ? 0 : 1));
  const to = isTransposed ? address : address + start * elementCount(inner) * dtypeBytes(r.dtype);
  if (part.dtype === r.dtype && !part.scale && taps === 1 && !isTransposed) {
    r.uploadStored(to, part.bytes);
    return;
  }
  const scales = part.scale ? elementCount(part.scale.shape) : 0;
  const raw = r.pool.allocate(part.bytes.byteLength);
  const factors = r.pool.allocate(scales * 4);
  r.uploadStored(raw, part.bytes);
  if (part.scale) r.pinned.upload(r.stream, factors, part.scale.bytes);
  // A transposed kernel [C, O, k] is stored with its channels first: one row of C channels with O k taps each.
  const channels = isTransposed ? count : (inner[0] ?? 1);
  packWeight(r, {
    to,
    toDtype: r.dtype,
    toChannels: isTransposed ? rows : channels,
    firstChannel: isTransposed ? start : 0,
    from: raw,
    fromDtype: part.dtype,
    rows: isTransposed ? 1 : count,
    channels,
    taps,
    scales: factors,
    rowScale: scales > 1 && !isTransposed ? 1 : 0,
    channelScale: scales > 1 && isTransposed ? 1 : 0,
  });
  r.pool.free(raw);
  r.pool.free(factors);
}
