// What a product of quantised rows lacks: y[row, column] * row_scales[row] * column_scales[column] + bias[column], in place.
#include "common.cuh"

extern "C" __global__ void finish_product(TYPE* y, const float* row_scales, const float* column_scales, const BIAS* bias, INDEX packs,
                                          INDEX row_packs) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= packs) return;
  INDEX column = (i % row_packs) * VEC;
  float values[VEC], factors[VEC];
  load_floats<TYPE, VEC>(y + i * VEC, values);
  if (row_scales) {
    float row = row_scales[i / row_packs];
    load_floats<float, VEC>(column_scales + column, factors);
    UNROLL for (int k = 0; k < VEC; k++) values[k] *= row * factors[k];
  }
  if (bias) {
    load_floats<BIAS, VEC>(bias + column, factors);
    UNROLL for (int k = 0; k < VEC; k++) values[k] += factors[k];
  }
  store_floats<TYPE, VEC>(y + i * VEC, values);
}
