// Mean over the last axis: a thread a row where rows are short, a warp a row where they are long.
#include "common.cuh"

extern "C" __global__ void mean(TYPE* to, const TYPE* x, i64 rows, i32 c) {
  i64 row = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / THREADS;
  int lane = threadIdx.x % THREADS;
  float sum = 0.0f;
  if (row < rows)
    for (int i = lane; i < c; i += THREADS) sum += to_float(x[row * c + i]);
  if (THREADS == 32) sum = warp_sum(sum);
  if (row < rows && lane == 0) to[row] = Convert<TYPE>::from(sum / c);
}
