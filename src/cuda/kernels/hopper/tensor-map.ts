// Descriptions of tensors for the copy engine: bfloat16 or FP8, three dimensions, boxes whose rows are as wide as their swizzle.
import { addressOf } from '../../../native/index.js';
import {
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
  CU_TENSOR_MAP_DATA_TYPE_UINT8,
  CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
  CU_TENSOR_MAP_SWIZZLE_64B,
  CU_TENSOR_MAP_SWIZZLE_128B,
  type Driver,
} from '../../ffi/driver.js';
import { CudaError } from '../../ffi/errors.js';

/** Bytes of a description. */
export const tensorMapBytes = 128;
const alignment = 64;

/** A dense tensor, innermost dimension first, and the box that one copy takes. */
export interface BoxedTensor {
  readonly address: number;
  readonly size: readonly [x: number, y: number, z: number];
  /** Its rows are 64 or 128 bytes. */
  readonly box: readonly [x: number, y: number, z: number];
  /** One byte an element; else two. */
  readonly fp8?: boolean;
}

/**
 * What lies outside the tensor is read as zero.
 * @throws CudaError where the driver refuses the sizes
 */
export function encodeTensorMap(driver: Driver, { address, size, box, fp8 = false }: BoxedTensor): Uint8Array {
  const room = new Uint8Array(tensorMapBytes + alignment);
  const misplaced = Number(addressOf(room) % BigInt(alignment));
  const map = room.subarray((alignment - misplaced) % alignment).subarray(0, tensorMapBytes);
  const elementBytes = fp8 ? 1 : 2;
  const rowBytes = elementBytes * size[0];
  const code = driver.cuTensorMapEncodeTiled(
    map,
    fp8 ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    size.length,
    address,
    BigUint64Array.from(size, BigInt),
    BigUint64Array.of(BigInt(rowBytes), BigInt(rowBytes * size[1])),
    Uint32Array.from(box),
    Uint32Array.of(1, 1, 1),
    0,
    elementBytes * box[0] === 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B,
    CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
    0,
  );
  if (code !== 0) throw new CudaError('cuTensorMapEncodeTiled', code, `a box ${box.join('x')} of ${size.join('x')}`);
  return map;
}
