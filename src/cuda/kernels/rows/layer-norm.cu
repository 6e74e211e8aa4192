// (x - mean) * rsqrt(var + eps) * weight + bias over the last axis.
#include "row.cuh"

extern "C" __global__ void layer_norm(TYPE* to, const TYPE* x, const TABLE* weight, const TABLE* bias, i64 rows, float eps) {
  i64 row = (i64)blockIdx.x * ROWS + threadIdx.x / THREADS;
  int lane = threadIdx.x % THREADS;
  bool active = row < rows;
  float values[STEPS][VEC];
  float sum = 0.0f;
  UNROLL for (int s = 0; s < STEPS; s++) {
    int c = (s * THREADS + lane) * VEC;
    if (active && c < C) {
      load_floats<TYPE, VEC>(x + row * C + c, values[s]);
      UNROLL for (int k = 0; k < VEC; k++) sum += values[s][k];
    }
  }
  float mean = row_sum(sum) / C;
  float squares = 0.0f;
  UNROLL for (int s = 0; s < STEPS; s++) {
    int c = (s * THREADS + lane) * VEC;
    if (!active || c >= C) continue;
    UNROLL for (int k = 0; k < VEC; k++) squares += (values[s][k] - mean) * (values[s][k] - mean);
  }
  float factor = 1.0f / sqrtf(row_sum(squares) / C + eps);
  UNROLL for (int s = 0; s < STEPS; s++) {
    int c = (s * THREADS + lane) * VEC;
    if (!active || c >= C) continue;
    float gain[VEC], shift[VEC];
    load_floats<TABLE, VEC>(weight + c, gain);
    if (BIAS) load_floats<TABLE, VEC>(bias + c, shift);
    UNROLL for (int k = 0; k < VEC; k++) gain[k] = (values[s][k] - mean) * factor * gain[k] + (BIAS ? shift[k] : 0.0f);
    store_floats<TYPE, VEC>(to + row * C + c, gain);
  }
}
