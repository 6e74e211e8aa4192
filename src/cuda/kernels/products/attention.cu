// Attention in one pass over the keys: bfloat16 tiles on tensor cores, softmax in float32. A block owns BM query rows of one head,
// each warp 16 of them; key segments follow each other as if concatenated. D is the head's size, DP the same padded to 16.
#include "mma.cuh"

#define PITCH (DP + PAD)
#define THREADS (WARPS * 32)
#define BM (WARPS * 16)
#define LOG2E 1.4426950408889634f

struct Segments {
  const bf16* k[SEGMENTS];
  const bf16* v[SEGMENTS];
  const i32* length[SEGMENTS]; // rows that count, or null
  i32 rows[SEGMENTS];
  i32 groups[SEGMENTS];
};

// Rows `first..first + count` of a head to shared memory; zeros beyond `limit` and beyond the head's size.
__device__ __forceinline__ void load_rows(bf16* tile, const bf16* from, int count, int limit, i64 pitch) {
#if D % 8 == 0
  for (int i = threadIdx.x; i < count * (DP / 8); i += THREADS) {
    int row = i / (DP / 8), column = i % (DP / 8) * 8;
    bool valid = row < limit && column < D;
    copy_async(tile + row * PITCH + column, valid ? from + row * pitch + column : from, valid);
  }
#else
  for (int i = threadIdx.x; i < count * DP; i += THREADS) {
    int row = i / DP, column = i % DP;
    tile[row * PITCH + column] = row < limit && column < D ? from[row * pitch + column] : bf16{0};
  }
#endif
}

// A walk over the key tiles of all segments.
struct Walk {
  int segment, start, length;

  __device__ __forceinline__ void enter(const Segments& s, int seen) {
    while (segment < SEGMENTS) {
      length = s.rows[segment];
      if (s.length[segment]) length = min(length, s.length[segment][0]);
      length = min(length, seen);
      if (length > 0) return;
      segment++;
    }
  }
  __device__ __forceinline__ void next(const Segments& s, int seen) {
    start += BN;
    if (start < length) return;
    start = 0;
    segment++;
    enter(s, seen);
  }
  __device__ __forceinline__ bool ended() const { return segment >= SEGMENTS; }
};

__device__ __forceinline__ void load_keys(bf16* k_tile, bf16* v_tile, const Segments& s, const Walk& walk, int head, int heads) {
  int groups = s.groups[walk.segment], group = head / (heads / groups), left = walk.length - walk.start;
  i64 pitch = (i64)groups * D, offset = walk.start * pitch + group * D;
  load_rows(k_tile, s.k[walk.segment] + offset, BN, left, pitch);
  load_rows(v_tile, s.v[walk.segment] + offset, BN, left, pitch);
}

extern "C" __global__ void __launch_bounds__(THREADS) attention(bf16* out, const bf16* q, i32 rows, i32 heads, float scale, Segments segments) {
  DYNAMIC_SHARED(shared);
  bf16* q_tile = (bf16*)shared;            // [BM, PITCH]
  bf16* k_tiles = q_tile + BM * PITCH;     // [STAGES, BN, PITCH]
  bf16* v_tiles = k_tiles + STAGES * BN * PITCH;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int head = blockIdx.y, first = blockIdx.x * BM, row_limit = min(BM, rows - first);
  i64 pitch = (i64)heads * D;
  int seen = CAUSAL ? first + row_limit : 0x7fffffff;

  load_rows(q_tile, q + first * pitch + (i64)head * D, BM, row_limit, pitch);
  Walk ahead = {0, 0, 0};
  ahead.enter(segments, seen);
  Walk walk = ahead;
  int loaded = 0;
  if (!ahead.ended()) {
    load_keys(k_tiles, v_tiles, segments, ahead, head, heads);
    ahead.next(segments, seen);
  }
  loaded++;
  copy_commit();

  float sums[DP / 8][4];
  UNROLL for (int i = 0; i < DP / 8; i++)
    UNROLL for (int k = 0; k < 4; k++) sums[i][k] = 0.0f;
  float top[2] = {-INF, -INF}, total[2] = {0.0f, 0.0f};
  float factor = scale * LOG2E;

  for (int tile = 0; !walk.ended(); tile++) {
    int stage = tile % STAGES;
    if (STAGES > 1) {
      if (!ahead.ended()) {
        load_keys(k_tiles + loaded % STAGES * BN * PITCH, v_tiles + loaded % STAGES * BN * PITCH, segments, ahead, head, heads);
        ahead.next(segments, seen);
      }
      loaded++;
      copy_commit();
      copy_wait<1>();
    } else {
      copy_wait<0>();
    }
    __syncthreads();

    const bf16* k_tile = k_tiles + stage * BN * PITCH;
    const bf16* v_tile = v_tiles + stage * BN * PITCH;
    float scores[BN / 8][4];
    UNROLL for (int i = 0; i < BN / 8; i++)
      UNROLL for (int k = 0; k < 4; k++) scores[i][k] = 0.0f;
    UNROLL for (int k = 0; k < DP; k += 16) {
      u32 a[4], b[4];
      load_matrix(a, q_tile + (warp * 16 + lane % 16) * PITCH + k + lane / 16 * 8);
      UNROLL for (int n = 0; n < BN; n += 16) {
        load_matrix(b, k_tile + (n + lane / 16 * 8 + lane % 8) * PITCH + k + lane / 8 % 2 * 8);
        multiply_tiles(scores[n / 8], a, b[0], b[1]);
        multiply_tiles(scores[n / 8 + 1], a, b[2], b[3]);
      }
    }

    // Columns that do not count. Rows of a thread: lane / 4 and 8 below.
    int query = first + warp * 16 + lane / 4;
    bool partial = walk.length - walk.start < BN || (CAUSAL && walk.start + BN > first + warp * 16 + 1);
    if (partial) {
      UNROLL for (int i = 0; i < BN / 8; i++)
        UNROLL for (int k = 0; k < 4; k++) {
          int column = walk.start + i * 8 + lane % 4 * 2 + k % 2;
          if (column >= walk.length || (CAUSAL && column > query + k / 2 * 8)) scores[i][k] = -INF;
        }
    }

    UNROLL for (int half = 0; half < 2; half++) {
      float largest = top[half];
      UNROLL for (int i = 0; i < BN / 8; i++) largest = fmaxf(largest, fmaxf(scores[i][half * 2], scores[i][half * 2 + 1]));
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 2));
      float shift = largest == -INF ? 0.0f : largest * factor;
      float correction = power_of_two(top[half] * factor - shift);
      top[half] = largest;
      float sum = 0.0f;
      UNROLL for (int i = 0; i < BN / 8; i++)
        UNROLL for (int k = half * 2; k < half * 2 + 2; k++) {
          scores[i][k] = power_of_two(scores[i][k] * factor - shift);
          sum += scores[i][k];
        }
      total[half] = total[half] * correction + sum;
      UNROLL for (int i = 0; i < DP / 8; i++) {
        sums[i][half * 2] *= correction;
        sums[i][half * 2 + 1] *= correction;
      }
    }

    UNROLL for (int n = 0; n < BN; n += 16) {
      u32 a[4] = {pack_bf16(scores[n / 8][0], scores[n / 8][1]), pack_bf16(scores[n / 8][2], scores[n / 8][3]),
                  pack_bf16(scores[n / 8 + 1][0], scores[n / 8 + 1][1]), pack_bf16(scores[n / 8 + 1][2], scores[n / 8 + 1][3])};
      UNROLL for (int d = 0; d < DP; d += 16) {
        u32 b[4];
        load_matrix_transposed(b, v_tile + (n + lane % 16) * PITCH + d + lane / 16 * 8);
        multiply_tiles(sums[d / 8], a, b[0], b[1]);
        multiply_tiles(sums[d / 8 + 1], a, b[2], b[3]);
      }
    }
    __syncthreads();
    walk.next(segments, seen);
    if (STAGES == 1 && !walk.ended()) {
      load_keys(k_tiles, v_tiles, segments, walk, head, heads);
      copy_commit();
    }
  }

  UNROLL for (int half = 0; half < 2; half++) {
    float sum = total[half];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    int row = first + warp * 16 + half * 8 + lane / 4;
    if (row >= rows) continue;
    bf16* to = out + row * pitch + (i64)head * D + lane % 4 * 2;
    UNROLL for (int i = 0; i < DP / 8; i++) {
      if (i * 8 + lane % 4 * 2 >= D) continue;
      float pair[2] = {sums[i][half * 2] * inverse, sums[i][half * 2 + 1] * inverse};
#if D % 2 == 0
      store_floats<bf16, 2>(to + i * 8, pair);
#else
      to[i * 8] = Convert<bf16>::from(pair[0]);
      if (i * 8 + lane % 4 * 2 + 1 < D) to[i * 8 + 1] = Convert<bf16>::from(pair[1]);
#endif
    }
  }
}
