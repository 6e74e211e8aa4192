// Host float32 values to a device.
import type { Backend, Tensor } from './backend.js';

/** Uploads `values` as a float32 tensor of `shape`. */
export function uploadFloats(b: Backend, values: Float32Array, shape: readonly number[]): Tensor {
  return b.upload({ shape, dtype: 'f32', bytes: new Uint8Array(values.buffer, values.byteOffset, values.byteLength) });
}
