// A weighted sum whose weights are the row of a table that a step counter points at. Terms with weight zero are not read.
#include "common.cuh"

struct Terms {
  const TYPE* at[COUNT];
};

extern "C" __global__ void linear_combination(TYPE* to, const float* table, const i32* step, INDEX packs, Terms terms) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= packs) return;
  const float* weights = table + (i64)step[0] * COUNT;
  float sum[VEC], values[VEC];
  UNROLL for (int k = 0; k < VEC; k++) sum[k] = 0.0f;
  UNROLL for (int term = 0; term < COUNT; term++) {
    float weight = weights[term];
    if (weight == 0.0f) continue;
    load_floats<TYPE, VEC>(terms.at[term] + i * VEC, values);
    UNROLL for (int k = 0; k < VEC; k++) sum[k] += weight * values[k];
  }
  store_floats<TYPE, VEC>(to + i * VEC, sum);
}
