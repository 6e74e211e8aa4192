// What the attention kernels on Hopper share: the order of work, rings of stages, the running softmax. BM, BN and CAUSAL are theirs.
#ifndef ORRERY_HOPPER_ATTENTION
#define ORRERY_HOPPER_ATTENTION
#include "hopper.cuh"

// Position in a ring of stages.
struct Ring {
  u32 stage, phase;
  __device__ __forceinline__ void next() {
    if (++stage == STAGES) {
      stage = 0;
      phase ^= 1;
    }
  }
};

// Addresses of barriers; those of keys and values have one per stage, 8 bytes apart.
struct Barriers {
  u32 q_full, q_empty, k_full, k_empty, v_full, v_empty;

  __device__ __forceinline__ Barriers(u32 first)
      : q_full(first), q_empty(first + 8), k_full(first + 16), k_empty(first + 16 + 8 * STAGES), v_full(first + 16 + 16 * STAGES),
        v_empty(first + 16 + 24 * STAGES) {}

  // One copying thread fills; each of the `warps` multiplying warps says once that it has read.
  __device__ __forceinline__ void init(u32 warps) const {
    barrier_init(q_full, 1);
    barrier_init(q_empty, warps);
    for (int i = 0; i < STAGES; i++) {
      barrier_init(k_full + 8 * i, 1);
      barrier_init(k_empty + 8 * i, warps);
      barrier_init(v_full + 8 * i, 1);
      barrier_init(v_empty + 8 * i, warps);
    }
    barrier_fence_init();
  }
};

struct Work {
  i32 blocks, blocks_a_group, heads_a_group, rows;

  __device__ __forceinline__ Work(i32 rows, i32 heads, i32 key_heads) : heads_a_group(heads / key_heads), rows(rows) {
    i32 query_blocks = (rows + BM - 1) / BM;
    blocks = query_blocks * heads;
    blocks_a_group = query_blocks * heads_a_group;
  }

  // Query block and head of a piece of work: the heads that share keys follow each other, then the next rows.
  __device__ __forceinline__ void place(i32 index, i32& first, i32& head, i32& key_head) const {
    key_head = index / blocks_a_group;
    i32 inside = index % blocks_a_group;
    first = inside / heads_a_group * BM;
    head = key_head * heads_a_group + inside % heads_a_group;
  }
};

// Running softmax of a thread's two rows. Weights are multiplied by 2^lift, and so are their totals.
template <int COUNT>
struct Softmax {
  float top[2], total[2], factor, lift;

  __device__ __forceinline__ Softmax(float factor, float lift) : factor(factor), lift(lift) {
    top[0] = top[1] = -INF;
    total[0] = total[1] = 0.0f;
  }

  // Scores to weights; `scale` receives what sums so far are multiplied with.
  __device__ __forceinline__ void take(float (&s)[COUNT], float (&scale)[2]) {
    UNROLL for (int half = 0; half < 2; half++) {
      float most = top[half];
      UNROLL for (int i = 0; i < COUNT / 2; i++) most = fmaxf(most, s[i / 2 * 4 + half * 2 + i % 2]);
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
      // A row that has seen no key yet keeps -infinity; its weights are then zero.
      float base = most == -INF ? 0.0f : most * factor;
      scale[half] = power_of_two(top[half] * factor - base);
      top[half] = most;
      float sum = 0.0f;
      UNROLL for (int i = 0; i < COUNT / 2; i++) {
        float& x = s[i / 2 * 4 + half * 2 + i % 2];
        x = power_of_two(x * factor - (base - lift));
        sum += x;
      }
      total[half] = total[half] * scale[half] + sum;
    }
  }

  // Factor that turns sums into means, per row; zero where no key was seen.
  __device__ __forceinline__ float inverse(int half) const {
    float sum = total[half];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    return sum > 0.0f ? 1.0f / sum : 0.0f;
  }
};

// Keys from `count` on, and with CAUSAL those behind the query, get -infinity. `first` is the tile's first key.
template <int COUNT>
__device__ __forceinline__ void hide(float (&s)[COUNT], i32 first, i32 count, i32 row) {
  i32 lane = threadIdx.x % 32;
  UNROLL for (int i = 0; i < COUNT; i++) {
    i32 column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    bool seen = column < count;
    if (CAUSAL) seen = seen && first + column <= row + i % 4 / 2 * 8;
    if (!seen) s[i] = -INF;
  }
}

// Two rows of 128 sums per thread, times their factors, to `out [rows, heads, 128]`.
__device__ __forceinline__ void store_rows(bf16* out, const float (&o)[64], const float (&factors)[2], i32 row, i32 rows, i32 head, i32 heads) {
  UNROLL for (int half = 0; half < 2; half++) {
    if (row + half * 8 >= rows) continue;
    u32* to = (u32*)(out + ((i64)(row + half * 8) * heads + head) * 128) + threadIdx.x % 4;
    UNROLL for (int j = 0; j < 16; j++) to[4 * j] = pack_bf16(o[4 * j + half * 2] * factors[half], o[4 * j + half * 2 + 1] * factors[half]);
  }
}

#endif
