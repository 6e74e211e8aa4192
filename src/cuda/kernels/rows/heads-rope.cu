// Splits merged projections into heads, norms and rotates q and k, and copies v. LANES lanes of a warp hold a head, element j and its
// partner j + d/2 together; a warp goes through PER of a row's heads with the row's angles kept in registers.
#include "common.cuh"

#define HALF (D / 2)
#define STEPS ((HALF + LANES * VEC - 1) / (LANES * VEC))
#define TOGETHER (32 / LANES)

typedef Pack<TYPE, VEC> Elements;

struct Angles {
  float cos_low[VEC], cos_high[VEC], sin_low[VEC], sin_high[VEC];
};

// VEC elements in accesses of TVEC: tables are often wider than rows.
template <typename T>
__device__ __forceinline__ void load_table(const T* from, float (&to)[VEC]) {
  UNROLL for (int i = 0; i < VEC; i += TVEC) {
    Pack<T, TVEC> pack = *(const Pack<T, TVEC>*)(from + i);
    UNROLL for (int k = 0; k < TVEC; k++) to[i + k] = to_float(pack.v[k]);
  }
}

__device__ __forceinline__ float squares_of(const Elements& pack) {
  float sum = 0.0f;
  UNROLL for (int k = 0; k < VEC; k++) {
    float x = to_float(pack.v[k]);
    sum += x * x;
  }
  return sum;
}

extern "C" __global__ void heads_rope(TYPE* q, TYPE* k, TYPE* v, const TYPE* qkv, const NORM* q_norm, const NORM* k_norm,
                                      const TABLE* cos, const TABLE* sin, i64 rows, i32 heads, i32 kv_heads, i32 parts, float eps) {
  i64 warp = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  i64 row = warp / parts;
  if (row >= rows) return;
  int part = (int)(warp % parts), lane = threadIdx.x % 32;
  int all = heads + 2 * kv_heads, first = part * PER, end = min(all, first + PER);
  int within = lane % LANES, beside = lane / LANES;
  Angles angles[STEPS];
  UNROLL for (int s = 0; s < STEPS; s++) {
    int j = (s * LANES + within) * VEC;
    if (j >= HALF) continue;
    load_table<TABLE>(cos + row * D + j, angles[s].cos_low);
    load_table<TABLE>(cos + row * D + HALF + j, angles[s].cos_high);
    load_table<TABLE>(sin + row * D + j, angles[s].sin_low);
    load_table<TABLE>(sin + row * D + HALF + j, angles[s].sin_high);
  }
  float gain_low[STEPS][VEC], gain_high[STEPS][VEC];
  int kind = -1;
  bool normed = false;
  for (int start = first; start < end; start += TOGETHER * BATCH) {
    Elements low[BATCH][STEPS], high[BATCH][STEPS];
    UNROLL for (int i = 0; i < BATCH; i++) {
      int head = start + i * TOGETHER + beside;
      UNROLL for (int s = 0; s < STEPS; s++) {
        int j = (s * LANES + within) * VEC;
        if (head >= end || j >= HALF) continue;
        const TYPE* in = qkv + (row * all + head) * D + j;
        low[i][s] = *(const Elements*)in;
        high[i][s] = *(const Elements*)(in + HALF);
      }
    }
    UNROLL for (int i = 0; i < BATCH; i++) {
      int head = start + i * TOGETHER + beside;
      bool active = head < end;
      int mine = head < heads ? 0 : head < heads + kv_heads ? 1 : 2;
      if (active && mine != kind && mine < 2) {
        kind = mine;
        const NORM* norm = mine == 0 ? q_norm : k_norm;
        normed = norm != 0;
        UNROLL for (int s = 0; s < STEPS; s++) {
          int j = (s * LANES + within) * VEC;
          if (!normed || j >= HALF) continue;
          load_table<NORM>(norm + j, gain_low[s]);
          load_table<NORM>(norm + HALF + j, gain_high[s]);
        }
      }
      float sum = 0.0f;
      UNROLL for (int s = 0; s < STEPS; s++) {
        if (active && (s * LANES + within) * VEC < HALF) sum += squares_of(low[i][s]) + squares_of(high[i][s]);
      }
      UNROLL for (int step = LANES / 2; step > 0; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
      if (!active) continue;
      float factor = 1.0f / sqrtf(sum / D + eps);
      TYPE* to = mine == 0 ? q + (row * heads + head) * D
                           : (mine == 1 ? k : v) + (row * kv_heads + head - heads - (mine == 2 ? kv_heads : 0)) * D;
      UNROLL for (int s = 0; s < STEPS; s++) {
        int j = (s * LANES + within) * VEC;
        if (j >= HALF) continue;
        if (mine == 2) {
          *(Elements*)(to + j) = low[i][s];
          *(Elements*)(to + HALF + j) = high[i][s];
          continue;
        }
        float a[VEC], b[VEC];
        UNROLL for (int e = 0; e < VEC; e++) {
          float x = to_float(low[i][s].v[e]), y = to_float(high[i][s].v[e]);
          if (normed) x *= factor * gain_low[s][e], y *= factor * gain_high[s][e];
          a[e] = x * angles[s].cos_low[e] - y * angles[s].sin_low[e];
          b[e] = y * angles[s].cos_high[e] + x * angles[s].sin_high[e];
        }
        store_floats<TYPE, VEC>(to + j, a);
        store_floats<TYPE, VEC>(to + HALF + j, b);
      }
    }
  }
}
