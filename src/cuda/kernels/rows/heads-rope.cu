// Splits merged projections into heads, norms and rotates q and k, and copies v: one warp a head of a row.
#include "common.cuh"

#define HALF (D / 2)
#define STEPS ((HALF + 32 * VEC - 1) / (32 * VEC))

// VEC elements j and their partners j + d/2 for each step of a lane.
__device__ __forceinline__ void turn(TYPE* to, const TYPE* in, const NORM* norm, const TABLE* cos, const TABLE* sin, float eps) {
  int lane = threadIdx.x % 32;
  float low[STEPS][VEC], high[STEPS][VEC];
  float sum = 0.0f;
  UNROLL for (int s = 0; s < STEPS; s++) {
    int j = (s * 32 + lane) * VEC;
    if (j >= HALF) continue;
    load_floats<TYPE, VEC>(in + j, low[s]);
    load_floats<TYPE, VEC>(in + HALF + j, high[s]);
    UNROLL for (int k = 0; k < VEC; k++) sum += low[s][k] * low[s][k] + high[s][k] * high[s][k];
  }
  float factor = norm ? 1.0f / sqrtf(warp_sum(sum) / D + eps) : 1.0f;
  UNROLL for (int s = 0; s < STEPS; s++) {
    int j = (s * 32 + lane) * VEC;
    if (j >= HALF) continue;
    float a[VEC], b[VEC], c0[VEC], c1[VEC], s0[VEC], s1[VEC];
    if (norm) {
      load_floats<NORM, VEC>(norm + j, a);
      load_floats<NORM, VEC>(norm + HALF + j, b);
    }
    load_floats<TABLE, VEC>(cos + j, c0);
    load_floats<TABLE, VEC>(cos + HALF + j, c1);
    load_floats<TABLE, VEC>(sin + j, s0);
    load_floats<TABLE, VEC>(sin + HALF + j, s1);
    UNROLL for (int k = 0; k < VEC; k++) {
      float x = low[s][k] * factor * (norm ? a[k] : 1.0f), y = high[s][k] * factor * (norm ? b[k] : 1.0f);
      a[k] = x * c0[k] - y * s0[k];
      b[k] = y * c1[k] + x * s1[k];
    }
    store_floats<TYPE, VEC>(to + j, a);
    store_floats<TYPE, VEC>(to + HALF + j, b);
  }
}

extern "C" __global__ void heads_rope(TYPE* q, TYPE* k, TYPE* v, const TYPE* qkv, const NORM* q_norm, const NORM* k_norm,
                                      const TABLE* cos, const TABLE* sin, i64 rows, i32 heads, i32 kv_heads, float eps) {
  i64 warp = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int all = heads + 2 * kv_heads;
  i64 row = warp / all;
  int head = (int)(warp % all);
  if (row >= rows) return;
  const TYPE* in = qkv + (row * all + head) * D;
  const TABLE* c = cos + row * D;
  const TABLE* s = sin + row * D;
  if (head < heads) turn(q + (row * heads + head) * D, in, q_norm, c, s, eps);
  else if (head < heads + kv_heads) turn(k + (row * kv_heads + head - heads) * D, in, k_norm, c, s, eps);
  else {
    TYPE* to = v + (row * kv_heads + head - heads - kv_heads) * D;
    for (int j = (threadIdx.x % 32) * VEC; j < D; j += 32 * VEC) *(Pack<TYPE, VEC>*)(to + j) = *(const Pack<TYPE, VEC>*)(in + j);
  }
}
