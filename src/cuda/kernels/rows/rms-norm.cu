// x * rsqrt(mean(x^2) + eps) * weight over the last axis, then an activation. A row stays in registers between its two passes.
#include "row.cuh"

extern "C" __global__ void rms_norm(TYPE* to, const TYPE* x, const TABLE* weight, i64 rows, float eps) {
  i64 row = (i64)blockIdx.x * ROWS + threadIdx.x / THREADS;
  int lane = threadIdx.x % THREADS;
  bool active = row < rows;
  float values[STEPS][VEC];
  float sum = 0.0f;
  UNROLL for (int s = 0; s < STEPS; s++) {
    int c = (s * THREADS + lane) * VEC;
    if (active && c < C) {
      load_floats<TYPE, VEC>(x + row * C + c, values[s]);
      UNROLL for (int k = 0; k < VEC; k++) sum += values[s][k] * values[s][k];
    }
  }
  float factor = 1.0f / sqrtf(row_sum(sum) / C + eps);
  UNROLL for (int s = 0; s < STEPS; s++) {
    int c = (s * THREADS + lane) * VEC;
    if (!active || c >= C) continue;
    float gain[VEC];
    load_floats<TABLE, VEC>(weight + c, gain);
    UNROLL for (int k = 0; k < VEC; k++) gain[k] = activate<KIND>(values[s][k] * factor * gain[k]);
    store_floats<TYPE, VEC>(to + row * C + c, gain);
  }
}
