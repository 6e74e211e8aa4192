// x + mask * row: the row is added where the mask is one.
#include "common.cuh"

extern "C" __global__ void add_rows(TYPE* to, const TYPE* x, const ROW* row, const float* mask, INDEX packs, INDEX row_packs) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= packs) return;
  float values[VEC], shift[VEC];
  load_floats<TYPE, VEC>(x + i * VEC, values);
  load_floats<ROW, VEC>(row + (i % row_packs) * VEC, shift);
  float factor = mask[i / row_packs];
  UNROLL for (int k = 0; k < VEC; k++) values[k] += factor * shift[k];
  store_floats<TYPE, VEC>(to + i * VEC, values);
}
