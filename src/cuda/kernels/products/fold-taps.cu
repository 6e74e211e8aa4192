// The second half of a transposed convolution: each output point sums the taps that reach it, of products [T, O, taps].
#include "common.cuh"

extern "C" __global__ void fold_taps(TYPE* to, const float* products, const BIAS* bias, i64 count, i32 rows, i32 outputs, i32 taps,
                                     i32 stride, i32 padding) {
  i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int o = (int)(i % outputs), at = (int)(i / outputs) + padding;
  float sum = bias ? to_float(bias[o]) : 0.0f;
  for (int tap = at % stride; tap < taps; tap += stride) {
    int row = (at - tap) / stride;
    if (at >= tap && row < rows) sum += products[((i64)row * outputs + o) * taps + tap];
  }
  to[i] = Convert<TYPE>::from(sum);
}
