// A row of C elements held by THREADS threads (a warp, or a whole block), VEC elements at a time.
#ifndef ORRERY_ROW
#define ORRERY_ROW
#include "common.cuh"

#define STEPS ((C + THREADS * VEC - 1) / (THREADS * VEC))

// The sum, or the largest, over a row's threads; every one of the block must call it.
template <bool MAXIMUM>
__device__ __forceinline__ float row_reduce(float x) {
  x = MAXIMUM ? warp_max(x) : warp_sum(x);
#if THREADS > 32
  __shared__ float partial[THREADS / 32];
  __syncthreads(); // a second one may follow the first
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
  __syncthreads();
  x = 0.0f;
  UNROLL for (int i = 0; i < THREADS / 32; i++) x = MAXIMUM ? fmaxf(x, partial[i]) : x + partial[i];
#endif
  return x;
}

__device__ __forceinline__ float row_sum(float x) { return row_reduce<false>(x); }

// The sum of one number and the largest of another over a row's threads, in one exchange; at most once a kernel.
__device__ __forceinline__ void row_sum_and_max(float& sum, float& largest) {
  sum = warp_sum(sum);
  largest = warp_max(largest);
#if THREADS > 32
  __shared__ float sums[THREADS / 32], maxima[THREADS / 32];
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum, maxima[threadIdx.x / 32] = largest;
  __syncthreads();
  sum = 0.0f, largest = 0.0f;
  UNROLL for (int i = 0; i < THREADS / 32; i++) sum += sums[i], largest = fmaxf(largest, maxima[i]);
#endif
}

// The factor of a quantised row whose largest number is `largest`.
__device__ __forceinline__ float row_scale(float largest) { return fmaxf(largest / 448.0f, 1e-12f); }

// Writes a row times `factor` as E4M3. A thread's numbers beyond the row's end are not read.
__device__ __forceinline__ void store_e4m3(e4m3* row, float (&values)[STEPS][VEC], float factor) {
  UNROLL for (int s = 0; s < STEPS; s++) {
    int c = (s * THREADS + threadIdx.x % THREADS) * VEC;
    if (c >= C) continue;
    UNROLL for (int k = 0; k < VEC; k++) values[s][k] *= factor;
    store_floats<e4m3, VEC>(row + c, values[s]);
  }
}

#endif
