// A row of C elements held by THREADS threads (a warp, or a whole block), VEC elements at a time.
#ifndef ORRERY_ROW
#define ORRERY_ROW
#include "common.cuh"

#define STEPS ((C + THREADS * VEC - 1) / (THREADS * VEC))

// The sum over a row's threads; every one of the block must call it.
__device__ __forceinline__ float row_sum(float x) {
  x = warp_sum(x);
#if THREADS > 32
  __shared__ float partial[THREADS / 32];
  __syncthreads(); // a second sum may follow the first
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
  __syncthreads();
  x = 0.0f;
  UNROLL for (int i = 0; i < THREADS / 32; i++) x += partial[i];
#endif
  return x;
}

#endif
