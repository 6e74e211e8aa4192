// Softmax of rows of scores over the columns that count; the rest become zero. One block a row.
#include "common.cuh"

struct Columns {
  const i32* lengths[SEGMENTS]; // rows that count, or null
  i32 starts[SEGMENTS + 1];     // first column of each key segment, then the end
};

__device__ __forceinline__ float block_reduce(float x, bool largest) {
  __shared__ float partial[8];
  x = largest ? warp_max(x) : warp_sum(x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
  __syncthreads();
  x = partial[0];
  UNROLL for (int i = 1; i < 8; i++) x = largest ? fmaxf(x, partial[i]) : x + partial[i];
  return x;
}

extern "C" __global__ void softmax_rows(TYPE* to, const float* scores, i32 width, i32 queries, i32 first_query, float scale, Columns columns) {
  i64 row = blockIdx.x;
  const float* in = scores + row * width;
  TYPE* out = to + row * width;
  int seen = CAUSAL ? first_query + (int)(row % queries) + 1 : width;
  float top = -INF;
  for (int s = 0; s < SEGMENTS; s++) {
    int start = columns.starts[s], length = columns.starts[s + 1] - start;
    if (columns.lengths[s]) length = min(length, columns.lengths[s][0]);
    length = min(length, seen);
    for (int i = threadIdx.x; i < length; i += 256) top = fmaxf(top, in[start + i]);
  }
  top = block_reduce(top, true);
  float sum = 0.0f;
  for (int s = 0; s < SEGMENTS; s++) {
    int start = columns.starts[s], length = columns.starts[s + 1] - start;
    if (columns.lengths[s]) length = min(length, columns.lengths[s][0]);
    length = min(length, seen);
    for (int i = threadIdx.x; i < length; i += 256) sum += expf((in[start + i] - top) * scale);
  }
  sum = block_reduce(sum, false);
  for (int s = 0; s < SEGMENTS; s++) {
    int start = columns.starts[s], room = columns.starts[s + 1] - start, length = room;
    if (columns.lengths[s]) length = min(length, columns.lengths[s][0]);
    length = min(length, seen);
    for (int i = threadIdx.x; i < room; i += 256)
      out[start + i] = Convert<TYPE>::from(i < length ? expf((in[start + i] - top) * scale) / sum : 0.0f);
  }
}
