// E4M3 rows as the dtype products compute in; their factors are multiplied in where there are any.
#include "common.cuh"

extern "C" __global__ void dequantize_rows(TYPE* to, const e4m3* from, const float* scales, INDEX packs, INDEX row_packs) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= packs) return;
  float values[VEC];
  load_floats<e4m3, VEC>(from + i * VEC, values);
  if (scales) {
    float factor = scales[i / row_packs];
    UNROLL for (int k = 0; k < VEC; k++) values[k] *= factor;
  }
  store_floats<TYPE, VEC>(to + i * VEC, values);
}
