// silu, squared relu, gelu.
#include "common.cuh"

extern "C" __global__ void activation(TYPE* to, const TYPE* x, INDEX packs) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= packs) return;
  float values[VEC];
  load_floats<TYPE, VEC>(x + i * VEC, values);
  UNROLL for (int k = 0; k < VEC; k++) values[k] = activate<KIND>(values[k]);
  store_floats<TYPE, VEC>(to + i * VEC, values);
}
