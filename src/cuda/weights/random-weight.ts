// Weights of random numbers made on the GPU, for measuring networks whose checkpoints are not at hand.
import { dtypeBytes, elementCount, ShapeError, type WeightUse } from '../../backend/index.js';
import { fillRandom } from '../kernels/random/random-fill.js';
import type { Runtime } from '../runtime/runtime.js';
import { CudaWeight } from './cuda-weight.js';
import { residentPlace } from './weight-place.js';

/** One stored part of a weight, described instead of stored. */
export interface RandomPart {
  readonly shape: readonly number[];
  /** 32 bits. */
  readonly seed: number;
  /** Factor on the sum of four random bytes less 510. */
  readonly scale: number;
}

/**
 * Parts merged along the first axis, as `weight` merges stored ones.
 * @throws ShapeError for parts that do not fit together, and for transposed convolutions · OutOfMemoryError
 */
export function makeRandomWeight(r: Runtime, parts: readonly RandomPart[], use: WeightUse): CudaWeight {
  const inner = parts[0]?.shape.slice(1) ?? [];
  if (use === 'transposed-convolution') throw new ShapeError('randomWeight', 'transposed convolutions are not made');
  for (const { shape } of parts)
    if (shape.length !== inner.length + 1 || shape.slice(1).some((size, axis) => size !== inner[axis]))
      throw new ShapeError('randomWeight', `[${shape.join(', ')}] as part of [N, ${inner.join(', ')}]`);
  const rows = parts.reduce((sum, { shape }) => sum + (shape[0] ?? 0), 0);
  const rowBytes = elementCount(inner) * dtypeBytes(r.dtype);
  const address = r.pool.allocate(rows * rowBytes);
  let start = 0;
  for (const { shape, seed, scale } of parts) {
    const place = { address: address + start * rowBytes, dtype: r.dtype, count: elementCount(shape) };
    fillRandom(r, { ...place, seed, scale, channels: inner[0] ?? 1, taps: elementCount(inner.slice(1)) });
    start += shape[0] ?? 0;
  }
  return new CudaWeight([rows, ...inner], r.dtype, use, residentPlace(r.pool, [address]));
}
