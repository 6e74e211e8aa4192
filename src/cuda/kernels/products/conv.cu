// Convolution of a clip [T, H, W, C] as a product whose left rows are gathered while they are loaded; weights are [O, taps, C].
// A plain product of rows is the same with one tap. Tensor cores for bfloat16, plain multiply-adds for float32.
#include "mma.cuh"

struct Shape {
  i32 t, h, w, c;          // input, channels of all groups
  i32 ot, oh, ow, o;       // output, channels of one group
  i32 cg, kt, kh, kw;      // channels of one group, kernel
  i32 st, sh, sw;          // strides
  i32 pt, ph, pw;          // zeros before
  i32 dt, dh, dw;          // dilation
  i32 groups, tiles_n;
};

// Where an output row's kernel begins in the input.
struct Place {
  int t, h, w;
  bool valid;
};

__device__ __forceinline__ Place place_of(const Shape& s, i64 row) {
  Place p;
  i64 plane = (i64)s.oh * s.ow;
  int frame = (int)(row / plane), inside = (int)(row % plane);
  p.valid = frame < s.ot;
  p.t = frame * s.st - s.pt;
  p.h = inside / s.ow * s.sh - s.ph;
  p.w = inside % s.ow * s.sw - s.pw;
  return p;
}

// A place in the sum over taps and channels, channels fastest.
struct Step {
  int tap, c;
  int t, h, w; // offset of the tap

  __device__ __forceinline__ void locate(const Shape& s) {
    w = tap % s.kw * s.dw;
    h = tap / s.kw % s.kh * s.dh;
    t = tap / (s.kw * s.kh) * s.dt;
  }
  __device__ __forceinline__ void begin(const Shape& s, int k) {
    tap = k / s.cg;
    c = k % s.cg;
    locate(s);
  }
  __device__ __forceinline__ void advance(const Shape& s, int by) {
    c += by;
    if (c < s.cg) return;
    while (c >= s.cg) c -= s.cg, tap++;
    locate(s);
  }
};

// The input element at a place and step, or null where zeros are.
__device__ __forceinline__ const TYPE* gather(const TYPE* x, const Shape& s, const Place& p, const Step& k, int taps) {
  int t = p.t + k.t, h = p.h + k.h, w = p.w + k.w;
  bool inside = p.valid && k.tap < taps && (u32)t < (u32)s.t && (u32)h < (u32)s.h && (u32)w < (u32)s.w;
  return inside ? x + (((i64)t * s.h + h) * s.w + w) * s.c + k.c : 0;
}

__device__ __forceinline__ void store_pair(OUT* to, float a, float b, bool both) {
  to[0] = Convert<OUT>::from(a);
  if (both) to[1] = Convert<OUT>::from(b);
}

#if TENSOR

#define BM 128
#define BN 128
#define BK 32
#define STAGES 4
#define PITCH (BK + PAD)
#define WARPS_N 4

// Two rows and one run of eight k, for each thread, of a tile with 128 rows.
__device__ __forceinline__ void load_left(bf16* tile, const bf16* x, const Shape& s, const Place (&places)[2], const Step& step, int taps) {
  int column = threadIdx.x % 4 * 8, row = threadIdx.x / 4;
  UNROLL for (int r = 0; r < 2; r++) {
    bf16* to = tile + (row + r * 64) * PITCH + column;
#if VECTOR
    const bf16* from = gather(x, s, places[r], step, taps);
    copy_async(to, from ? from : x, from != 0);
#else
    Step k = step;
    for (int i = 0; i < 8; i++) {
      const bf16* from = gather(x, s, places[r], k, taps);
      to[i] = from ? *from : bf16{0};
      k.advance(s, 1);
    }
#endif
  }
}

__device__ __forceinline__ void load_right(bf16* tile, const bf16* w, int first, int rows, int k, int depth) {
  int column = threadIdx.x % 4 * 8, row = threadIdx.x / 4;
  UNROLL for (int r = 0; r < 2; r++) {
    int n = first + row + r * 64;
    bf16* to = tile + (row + r * 64) * PITCH + column;
    const bf16* from = w + (i64)n * depth + k + column;
#if VECTOR
    bool valid = n < rows && k + column < depth;
    copy_async(to, valid ? from : w, valid);
#else
    for (int i = 0; i < 8; i++) to[i] = n < rows && k + column + i < depth ? from[i] : bf16{0};
#endif
  }
}

extern "C" __global__ void __launch_bounds__(256) conv(OUT* y, const TYPE* x, const TYPE* w, const BIAS* bias, Shape s) {
  DYNAMIC_SHARED(shared);
  bf16* left = (bf16*)shared;                   // [STAGES, BM, PITCH]
  bf16* right = left + STAGES * BM * PITCH;     // [STAGES, BN, PITCH]
  int group = blockIdx.y, taps = s.kt * s.kh * s.kw, depth = taps * s.cg;
  i64 first_m = (i64)(blockIdx.x / s.tiles_n) * BM;
  int first_n = blockIdx.x % s.tiles_n * BN;
  const TYPE* xg = x + (i64)group * s.cg;
  const TYPE* wg = w + (i64)group * s.o * depth;
  Place places[2] = {place_of(s, first_m + threadIdx.x / 4), place_of(s, first_m + threadIdx.x / 4 + 64)};
  Step step;
  step.begin(s, threadIdx.x % 4 * 8);

  int steps = (depth + BK - 1) / BK;
  UNROLL for (int i = 0; i < STAGES - 1; i++) {
    if (i < steps) {
      load_left(left + i * BM * PITCH, xg, s, places, step, taps);
      load_right(right + i * BN * PITCH, wg, first_n, s.o, i * BK, depth);
      step.advance(s, BK);
    }
    copy_commit();
  }

  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int warp_m = warp / WARPS_N * 64, warp_n = warp % WARPS_N * 32;
  float sums[4][4][4];
  UNROLL for (int i = 0; i < 4; i++)
    UNROLL for (int j = 0; j < 4; j++)
      UNROLL for (int k = 0; k < 4; k++) sums[i][j][k] = 0.0f;

  for (int i = 0; i < steps; i++) {
    copy_wait<STAGES - 2>();
    __syncthreads();
    int ahead = i + STAGES - 1;
    if (ahead < steps) {
      load_left(left + ahead % STAGES * BM * PITCH, xg, s, places, step, taps);
      load_right(right + ahead % STAGES * BN * PITCH, wg, first_n, s.o, ahead * BK, depth);
      step.advance(s, BK);
    }
    copy_commit();
    const bf16* a_tile = left + i % STAGES * BM * PITCH;
    const bf16* b_tile = right + i % STAGES * BN * PITCH;
    UNROLL for (int k = 0; k < BK; k += 16) {
      u32 a[4][4], b[2][4];
      UNROLL for (int m = 0; m < 4; m++)
        load_matrix(a[m], a_tile + (warp_m + m * 16 + lane % 16) * PITCH + k + lane / 16 * 8);
      UNROLL for (int n = 0; n < 2; n++)
        load_matrix(b[n], b_tile + (warp_n + n * 16 + lane / 16 * 8 + lane % 8) * PITCH + k + lane / 8 % 2 * 8);
      UNROLL for (int m = 0; m < 4; m++)
        UNROLL for (int n = 0; n < 4; n++) multiply_tiles(sums[m][n], a[m], b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
    }
  }

  i64 rows = (i64)s.ot * s.oh * s.ow, pitch = (i64)s.o * s.groups;
  bool paired = s.o % 2 == 0;
  UNROLL for (int n = 0; n < 4; n++) {
    int column = first_n + warp_n + n * 8 + lane % 4 * 2;
    if (column >= s.o) continue;
    bool both = column + 1 < s.o;
    float b0 = bias ? to_float(bias[group * s.o + column]) : 0.0f;
    float b1 = bias && both ? to_float(bias[group * s.o + column + 1]) : 0.0f;
    UNROLL for (int m = 0; m < 4; m++)
      UNROLL for (int half = 0; half < 2; half++) {
        i64 row = first_m + warp_m + m * 16 + half * 8 + lane / 4;
        if (row >= rows) continue;
        OUT* to = y + row * pitch + group * s.o + column;
        float pair[2] = {sums[m][n][half * 2] + b0, sums[m][n][half * 2 + 1] + b1};
        if (paired) store_floats<OUT, 2>(to, pair);
        else store_pair(to, pair[0], pair[1], both);
      }
  }
}

#else

#define BM 64
#define BN 64
#define BK 16

extern "C" __global__ void __launch_bounds__(256) conv(OUT* y, const TYPE* x, const TYPE* w, const BIAS* bias, Shape s) {
  __shared__ float left[BK][BM + 4];
  __shared__ float right[BK][BN + 4];
  int group = blockIdx.y, taps = s.kt * s.kh * s.kw, depth = taps * s.cg;
  i64 first_m = (i64)(blockIdx.x / s.tiles_n) * BM;
  int first_n = blockIdx.x % s.tiles_n * BN;
  const TYPE* xg = x + (i64)group * s.cg;
  const TYPE* wg = w + (i64)group * s.o * depth;
  // Four neighbouring k of one row, for each thread, of both tiles.
  int row = threadIdx.x / 4, column = threadIdx.x % 4 * 4;
  Place place = place_of(s, first_m + row);
  Step step;
  step.begin(s, column);
  float sums[4][4];
  UNROLL for (int i = 0; i < 4; i++)
    UNROLL for (int j = 0; j < 4; j++) sums[i][j] = 0.0f;
  int m0 = threadIdx.x / 16 * 4, n0 = threadIdx.x % 16 * 4;

  for (int k0 = 0; k0 < depth; k0 += BK) {
    Step k = step;
    for (int i = 0; i < 4; i++) {
      const TYPE* from = gather(xg, s, place, k, taps);
      left[column + i][row] = from ? to_float(*from) : 0.0f;
      k.advance(s, 1);
      bool valid = first_n + row < s.o && k0 + column + i < depth;
      right[column + i][row] = valid ? to_float(wg[(i64)(first_n + row) * depth + k0 + column + i]) : 0.0f;
    }
    step.advance(s, BK);
    __syncthreads();
    UNROLL for (int i = 0; i < BK; i++)
      UNROLL for (int m = 0; m < 4; m++)
        UNROLL for (int n = 0; n < 4; n++) sums[m][n] += left[i][m0 + m] * right[i][n0 + n];
    __syncthreads();
  }

  i64 rows = (i64)s.ot * s.oh * s.ow, pitch = (i64)s.o * s.groups;
  UNROLL for (int m = 0; m < 4; m++)
    UNROLL for (int n = 0; n < 4; n++) {
      int o = first_n + n0 + n;
      if (first_m + m0 + m >= rows || o >= s.o) continue;
      float shift = bias ? to_float(bias[group * s.o + o]) : 0.0f;
      y[(first_m + m0 + m) * pitch + group * s.o + o] = Convert<OUT>::from(sums[m][n] + shift);
    }
}

#endif
