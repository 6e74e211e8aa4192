// The element types of tensors and stored weights.

/** Element types. `f8e4m3` and `f8e5m2` are the OCP FP8 formats; networks compute in `f32` or `bf16`. */
export type DType = 'f32' | 'f16' | 'bf16' | 'f8e4m3' | 'f8e5m2' | 'i64' | 'i32' | 'u8';

const sizes: Readonly<Record<DType, number>> = {
  f32: 4,
  f16: 2,
  bf16: 2,
  f8e4m3: 1,
  f8e5m2: 1,
  i64: 8,
  i32: 4,
  u8: 1,
};

/** Bytes of one element. */
export function dtypeBytes(dtype: DType): number {
  return sizes[dtype];
}

/** Number of elements of a shape; 1 for a scalar. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
