// Per-channel vectors of norms and activations, which checkpoints store with singleton axes around them.
import { type Backend, elementCount, type Tensor, uploadFloats } from '../backend/index.js';
import { toFloat32, type WeightReader } from '../weights/index.js';

/**
 * Reads a vector of C values stored under a shape such as `[C, 1, 1, 1]` or `[1, C, 1]`; float32 `[C]` on the device.
 * @throws WeightError where it is missing or misshaped.
 */
export function readChannels(b: Backend, reader: WeightReader, name: string, shape: readonly number[]): Tensor {
  return uploadFloats(b, toFloat32(reader.read(name, shape)), [elementCount(shape)]);
}

/** SnakeBeta's two vectors, `[C]` each; both are logarithms. */
export interface Snake {
  readonly alpha: Tensor;
  readonly beta: Tensor;
}

/** Reads `alpha` and `beta`, stored `[1, C, 1]`. */
export function readSnake(b: Backend, reader: WeightReader, channels: number): Snake {
  return {
    alpha: readChannels(b, reader, 'alpha', [1, channels, 1]),
    beta: readChannels(b, reader, 'beta', [1, channels, 1]),
  };
}
