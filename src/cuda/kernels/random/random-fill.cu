// Pseudo-random weights, nearly normal: the sum of the four bytes of a hash of the element's place in storage.
#include "common.cuh"

// An integer hash of full avalanche; `random-values.ts` has the same.
__device__ __forceinline__ u32 mix(u32 x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

// Rows [N, taps, C] of values whose places are those of [N, C, taps].
extern "C" __global__ void random_fill(DST* to, i64 count, u32 seed, float scale, i32 channels, i32 taps) {
  i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  i64 place = i;
  if (taps > 1) {
    i64 width = (i64)channels * taps, row = i / width;
    i32 inside = (i32)(i % width);
    place = row * width + (i64)(inside % channels) * taps + inside / channels;
  }
  u32 bits = mix(mix((u32)place) ^ seed);
  i32 sum = (i32)(bits & 255) + (i32)((bits >> 8) & 255) + (i32)((bits >> 16) & 255) + (i32)(bits >> 24);
  to[i] = Convert<DST>::from((float)(sum - 510) * scale);
}
