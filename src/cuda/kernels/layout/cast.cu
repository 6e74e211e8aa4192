// Elements of one dtype as another: nearest, ties to even; integers are cut toward zero.
#include "common.cuh"

// Integers go through double, which holds them; the rest through float, which holds every float dtype.
template <typename T>
__device__ __forceinline__ VALUE read_value(T x) { return (VALUE)to_float(x); }
__device__ __forceinline__ VALUE read_value(i64 x) { return (VALUE)x; }
__device__ __forceinline__ VALUE read_value(i32 x) { return (VALUE)x; }
__device__ __forceinline__ VALUE read_value(u8 x) { return (VALUE)x; }

template <typename T>
struct Write {
  static __device__ __forceinline__ T value(VALUE x) { return Convert<T>::from((float)x); }
};
template <>
struct Write<i64> {
  static __device__ __forceinline__ i64 value(VALUE x) { return (i64)x; }
};
template <>
struct Write<i32> {
  static __device__ __forceinline__ i32 value(VALUE x) { return (i32)x; }
};
template <>
struct Write<u8> {
  static __device__ __forceinline__ u8 value(VALUE x) { return (u8)(i64)x; }
};

extern "C" __global__ void cast(DST* to, const SRC* from, INDEX packs) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= packs) return;
  Pack<SRC, VEC> in = *(const Pack<SRC, VEC>*)(from + i * VEC);
  Pack<DST, VEC> out;
  UNROLL for (int k = 0; k < VEC; k++) out.v[k] = Write<DST>::value(read_value(in.v[k]));
  *(Pack<DST, VEC>*)(to + i * VEC) = out;
}
