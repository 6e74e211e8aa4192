// The residual sum and its RMS norm in one pass: x + y, then sum * rsqrt(mean(sum^2) + eps) * weight. Without ADD the sum is x;
// with QUANTIZE the norm is written as E4M3 with a factor for each row. A row stays in registers between its passes.
#include "row.cuh"

extern "C" __global__ void add_norm(void* to, float* scales, TYPE* sum, const TYPE* x, const TYPE* y, const TABLE* weight, i64 rows,
                                    float eps) {
  i64 row = (i64)blockIdx.x * ROWS + threadIdx.x / THREADS;
  int lane = threadIdx.x % THREADS;
  bool active = row < rows;
  float values[STEPS][VEC];
  float squares = 0.0f, largest = 0.0f;
  UNROLL for (int s = 0; s < STEPS; s++) {
    int c = (s * THREADS + lane) * VEC;
    if (!active || c >= C) continue;
    load_floats<TYPE, VEC>(x + row * C + c, values[s]);
    if (ADD) {
      float other[VEC];
      load_floats<TYPE, VEC>(y + row * C + c, other);
      // The norm is of what later sums will read.
      UNROLL for (int k = 0; k < VEC; k++) values[s][k] = to_float(Convert<TYPE>::from(values[s][k] + other[k]));
      store_floats<TYPE, VEC>(sum + row * C + c, values[s]);
    }
    UNROLL for (int k = 0; k < VEC; k++) squares += values[s][k] * values[s][k];
    if (QUANTIZE) {
      float gain[VEC];
      load_floats<TABLE, VEC>(weight + c, gain);
      UNROLL for (int k = 0; k < VEC; k++) values[s][k] *= gain[k], largest = fmaxf(largest, fabsf(values[s][k]));
    }
  }
  if (QUANTIZE) {
    // The norm's factor is positive, so that the largest number is known before it is.
    row_sum_and_max(squares, largest);
    float factor = 1.0f / sqrtf(squares / C + eps), scale = row_scale(largest * factor);
    if (!active) return;
    if (lane == 0) scales[row] = scale;
    store_e4m3((e4m3*)to + row * C, values, factor / scale);
    return;
  }
  float factor = 1.0f / sqrtf(row_sum(squares) / C + eps);
  UNROLL for (int s = 0; s < STEPS; s++) {
    int c = (s * THREADS + lane) * VEC;
    if (!active || c >= C) continue;
    float gain[VEC];
    load_floats<TABLE, VEC>(weight + c, gain);
    UNROLL for (int k = 0; k < VEC; k++) gain[k] = values[s][k] * factor * gain[k];
    store_floats<TYPE, VEC>((TYPE*)to + row * C + c, gain);
  }
}
