// Sums and products of two tensors; the second repeats along the first's leading axes.
#include "common.cuh"

template <bool MULTIPLY>
__device__ __forceinline__ void combine(TYPE* to, const TYPE* a, const TYPE* b, INDEX packs, INDEX period) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= packs) return;
  float left[VEC], right[VEC];
  load_floats<TYPE, VEC>(a + i * VEC, left);
  load_floats<TYPE, VEC>(b + (i % period) * VEC, right);
  UNROLL for (int k = 0; k < VEC; k++) left[k] = MULTIPLY ? left[k] * right[k] : left[k] + right[k];
  store_floats<TYPE, VEC>(to + i * VEC, left);
}

extern "C" __global__ void add(TYPE* to, const TYPE* a, const TYPE* b, INDEX packs, INDEX period) {
  combine<false>(to, a, b, packs, period);
}

extern "C" __global__ void multiply(TYPE* to, const TYPE* a, const TYPE* b, INDEX packs, INDEX period) {
  combine<true>(to, a, b, packs, period);
}
