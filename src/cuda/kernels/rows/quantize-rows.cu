// Rows as E4M3 with a factor each; with SWIGLU of silu(gate) * up of their two halves.
#include "row.cuh"

extern "C" __global__ void quantize_rows(e4m3* to, float* scales, const TYPE* x, i64 rows) {
  i64 row = (i64)blockIdx.x * ROWS + threadIdx.x / THREADS;
  int lane = threadIdx.x % THREADS;
  bool active = row < rows;
  const TYPE* in = x + row * C * (SWIGLU ? 2 : 1);
  float values[STEPS][VEC];
  float largest = 0.0f, unused = 0.0f;
  UNROLL for (int s = 0; s < STEPS; s++) {
    int c = (s * THREADS + lane) * VEC;
    if (!active || c >= C) continue;
    load_floats<TYPE, VEC>(in + c, values[s]);
    if (SWIGLU) {
      float up[VEC];
      load_floats<TYPE, VEC>(in + C + c, up);
      // Where rows are narrow the hardware's own exponential and quotient are exact enough, and several times faster.
      UNROLL for (int k = 0; k < VEC; k++)
        values[s][k] = (sizeof(TYPE) < 4 ? quick_silu(values[s][k]) : activate<1>(values[s][k])) * up[k];
    }
    UNROLL for (int k = 0; k < VEC; k++) largest = fmaxf(largest, fabsf(values[s][k]));
  }
  row_sum_and_max(unused, largest);
  if (!active) return;
  float scale = row_scale(largest);
  if (lane == 0) scales[row] = scale;
  store_e4m3(to + row * C, values, 1.0f / scale);
}
