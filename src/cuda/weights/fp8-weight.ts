// FP8 weights of a GPU: rows as E4M3 with a float32 factor each, made on the device from whatever was stored.
import {
  elementCount,
  type HostTensor,
  ShapeError,
  UnsupportedFormatError,
  type Weight,
  type WeightUse,
} from '../../backend/index.js';
import { packWeight } from '../kernels/products/pack-weight.js';
import { quantizeRowsInto } from '../kernels/rows/quantize-rows.js';
import type { Device } from '../runtime/device.js';
import type { Runtime } from '../runtime/runtime.js';
import { type CudaWeight, checkPart } from './cuda-weight.js';
import { residentPlace, type WeightPlace } from './weight-place.js';

/** A matrix `[N, K]` in E4M3 and its factors `[N]`. */
export class Fp8Weight implements Weight {
  readonly format = 'fp8';
  readonly dtype = 'f8e4m3';
  #alive = true;
  readonly #place: WeightPlace;

  constructor(
    readonly shape: readonly number[],
    place: WeightPlace,
  ) {
    this.#place = place;
  }

  /** Addresses of the E4M3 rows and of their factors. @throws Error after the weight was freed, and where it is not on the device now. */
  get addresses(): { readonly values: number; readonly scales: number } {
    if (!this.#alive) throw new Error(`FP8 weight [${this.shape.join(', ')}] used after it was disposed of`);
    return { values: this.#place.at(0), scales: this.#place.at(1) };
  }

  [Symbol.dispose](): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#place.free();
  }
}

/** Whether a GPU's tensor cores read FP8. */
export function servesFp8({ capability: { major, minor } }: Pick<Device, 'capability'>): boolean {
  return major > 8 || (major === 8 && minor >= 9);
}

/**
 * Copies stored parts to the device and quantises them row by row, `amax / 448`; E4M3 parts stay as they are, with their factors.
 * @throws UnsupportedFormatError below compute capability 8.9 · ShapeError when parts do not fit together · OutOfMemoryError
 */
export function makeFp8Weight(r: Runtime, parts: readonly HostTensor[], use: WeightUse): Fp8Weight {
  const { capability, name } = r.device;
  if (!servesFp8(r.device))
    throw new UnsupportedFormatError('fp8', `${name} (compute capability ${capability.major}.${capability.minor})`);
  if (use !== 'matrix') throw new ShapeError('weight', `an FP8 ${use}; only matrices are quantised`);
  const [first] = parts;
  if (!first) throw new ShapeError('weight', 'no parts');
  const inner = first.shape.slice(1);
  for (const part of parts) checkPart(part, use, inner);
  const rows = parts.reduce((sum, { shape }) => sum + (shape[0] ?? 0), 0);
  const columns = inner[0] ?? 0;
  const values = r.pool.allocate(rows * columns);
  const scales = r.pool.allocate(rows * 4);
  const place = residentPlace(r.pool, [values, scales]);
  try {
    let start = 0;
    for (const part of parts) {
      placePart(r, part, { values: values + start * columns, scales: scales + start * 4, columns });
      start += part.shape[0] ?? 0;
    }
  } catch (error) {
    place.free();
    throw error;
  }
  return new Fp8Weight([rows, columns], place);
}

/** An FP8 copy of a dense matrix; the caller disposes of both. */
export function quantizeWeight(r: Runtime, weight: CudaWeight): Fp8Weight {
  const [rows = 0, columns = 0] = weight.shape;
  if (weight.use !== 'matrix') throw new ShapeError('weight', `an FP8 ${weight.use}; only matrices are quantised`);
  const values = r.pool.allocate(rows * columns);
  const scales = r.pool.allocate(rows * 4);
  quantizeRowsInto(r, { values, scales, x: weight, rows, columns });
  return new Fp8Weight([rows, columns], residentPlace(r.pool, [values, scales]));
}

interface Place {
  readonly values: number;
  readonly scales: number;
  readonly columns: number;
}

function placePart(r: Runtime, part: HostTensor, { values, scales, columns }: Place): void {
  const rows = part.shape[0] ?? 0;
  if (part.dtype === 'f8e4m3') {
    r.uploadStored(values, part.bytes);
    r.pinned.upload(r.stream, scales, rowFactors(part, rows));
    return;
  }
  const raw = r.pool.allocate(part.bytes.byteLength);
  r.uploadStored(raw, part.bytes);
  if (!part.scale) quantizeRowsInto(r, { values, scales, x: { address: raw, dtype: part.dtype }, rows, columns });
  else {
    const count = elementCount(part.scale.shape);
    const factors = r.pool.allocate(count * 4);
    const wide = r.pool.allocate(rows * columns * 4);
    r.pinned.upload(r.stream, factors, part.scale.bytes);
    packWeight(r, {
      to: wide,
      toDtype: 'f32',
      toChannels: columns,
      firstChannel: 0,
      from: raw,
      fromDtype: part.dtype,
      rows,
      channels: columns,
      taps: 1,
      scales: factors,
      rowScale: count > 1 ? 1 : 0,
      channelScale: 0,
    });
    quantizeRowsInto(r, { values, scales, x: { address: wide, dtype: 'f32' }, rows, columns });
    r.pool.free(wide);
    r.pool.free(factors);
  }
  r.pool.free(raw);
}

/** A factor for each row, float32: the stored ones, the part's only one repeated, or ones. */
function rowFactors({ scale }: HostTensor, rows: number): Uint8Array {
  if (scale && elementCount(scale.shape) === rows) return scale.bytes;
  const only = scale ? new DataView(scale.bytes.buffer, scale.bytes.byteOffset).getFloat32(0, true) : 1;
  return new Uint8Array(new Float32Array(rows).fill(only).buffer);
}
