// Attention on Hopper with FP8 operands and heads of 128, scheduled as `attention.cu`. Keys lie in one segment; values come
// transposed, `[key heads, 128, keys]`, with the keys of each 32 in the order in which a thread holds its weights.
// Weights are scaled by 2^8, which keeps small ones from vanishing; totals carry the same factor.
#define BM 128
#define BN 192
#define STAGES 4
#define CAUSAL 0
#include "attention.cuh"

#define Q_BYTES (BM * 128)
#define K_BYTES (BN * 128)
#define V_BOX (64 * 128)
#define V_BYTES (BN / 64 * V_BOX)
#define GROUPS 2
#define LARGEST 448.0f
#define LIFT 8.0f

struct alignas(64) Operands {
  TensorMap q; // [rows, heads, 128]
  TensorMap k; // [keys, key heads, 128]
  TensorMap v; // [key heads, 128, keys]
  const float* q_most; // largest sizes, [heads], [key heads], [key heads]
  const float* k_most;
  const float* v_most;
  const i32* length; // of the last segment, or null
  i32 keys; // in front of the last segment, or all where length is null
  i32 last; // most keys of the last segment
};

__device__ __forceinline__ void copy_tiles(const Operands& operands, const Work& work, const Barriers& at, u32 q_tile, u32 k_tiles, u32 v_tiles, i32 tiles) {
  Ring ring = {0, 1};
  u32 q_phase = 1;
  for (i32 index = blockIdx.x; index < work.blocks; index += gridDim.x) {
    i32 first, head, key_head;
    work.place(index, first, head, key_head);
    barrier_wait(at.q_empty, q_phase);
    q_phase ^= 1;
    barrier_expect(at.q_full, Q_BYTES);
    copy_box(q_tile, &operands.q, at.q_full, 0, head, first);
    for (i32 i = 0; i < tiles; i++) {
      u32 k_full = at.k_full + 8 * ring.stage, v_full = at.v_full + 8 * ring.stage;
      barrier_wait(at.k_empty + 8 * ring.stage, ring.phase);
      barrier_expect(k_full, K_BYTES);
      copy_box(k_tiles + ring.stage * K_BYTES, &operands.k, k_full, 0, key_head, i * BN);
      barrier_wait(at.v_empty + 8 * ring.stage, ring.phase);
      barrier_expect(v_full, V_BYTES);
      for (i32 box = 0; box < BN / 64; box++)
        copy_box(v_tiles + ring.stage * V_BYTES + box * V_BOX, &operands.v, v_full, i * BN + box * 64, 0, key_head);
      ring.next();
    }
  }
}

__device__ __forceinline__ void start_scores(float (&s)[96], u32 q_rows, u32 k_tile) {
  u64 q = tile_descriptor(q_rows, 16, 1024), k = tile_descriptor(k_tile, 16, 1024);
  pin(s);
  products_begin();
  UNROLL for (int i = 0; i < 4; i++) multiply_64x192_fp8(s, q + i * 2, k + i * 2, i > 0);
  products_commit();
  pin(s);
}

__device__ __forceinline__ void start_sums(float (&o)[64], const u32 (&p)[BN / 32][4], u32 v_tile) {
  u64 v = tile_descriptor<SWIZZLE_64>(v_tile, 16, 512);
  pin(o);
  products_begin();
  UNROLL for (int i = 0; i < BN / 32; i++) multiply_64x128_fp8(o, p[i], v + ((i / 2 * V_BOX + i % 2 * 32) >> 4));
  products_commit();
  pin(o);
}

__device__ __forceinline__ void to_weights(u32 (&p)[BN / 32][4], const float (&s)[96]) {
  UNROLL for (int i = 0; i < BN / 32; i++)
    UNROLL for (int j = 0; j < 4; j++) {
      const float* pair = s + 16 * i + j / 2 * 8 + j % 2 * 2;
      p[i][j] = pack_e4m3(pair[0], pair[1], pair[4], pair[5]);
    }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    hopper_attention_fp8(bf16* out, i32 rows, i32 heads, i32 key_heads, float scale, const __grid_constant__ Operands operands) {
  DYNAMIC_SHARED(memory);
  __shared__ __align__(8) u64 barriers[2 + 4 * STAGES];
  u32 q_tile = (shared_address(memory) + 1023) & ~1023u;
  u32 k_tiles = q_tile + Q_BYTES, v_tiles = k_tiles + STAGES * K_BYTES;
  Barriers at(shared_address(barriers));
  if (threadIdx.x == 0) at.init(4 * GROUPS);
  __syncthreads();
  Work work(rows, heads, key_heads);
  i32 keys = operands.keys + (operands.length ? min(*operands.length, operands.last) : 0);
  i32 tiles = (keys + BN - 1) / BN;
  if (threadIdx.x < 128) {
    give_registers<24>();
    if (threadIdx.x == 0) copy_tiles(operands, work, at, q_tile, k_tiles, v_tiles, tiles);
  } else {
    take_registers<240>();
    i32 group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
    i32 mine = 1 + group, other = 2 - group;
    u32 q_rows = q_tile + group * 64 * 128;
    Ring k_ring = {0, 0}, v_ring = {0, 0};
    u32 q_phase = 0;
    if (group == 1) named_arrive(other, 256);
    for (i32 index = blockIdx.x; index < work.blocks; index += gridDim.x) {
      i32 first, head, key_head;
      work.place(index, first, head, key_head);
      i32 row = first + group * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
      float s[96], o[64], scales[2];
      u32 p[BN / 32][4];
      float size = operands.q_most[head] * operands.k_most[key_head] / (LARGEST * LARGEST);
      Softmax<96> softmax(scale * LOG2E * size, LIFT);
      UNROLL for (int i = 0; i < 64; i++) o[i] = 0.0f;
      barrier_wait(at.q_full, q_phase);
      q_phase ^= 1;
      barrier_wait(at.k_full + 8 * k_ring.stage, k_ring.phase);
      start_scores(s, q_rows, k_tiles + k_ring.stage * K_BYTES);
      products_wait<0>();
      pin(s);
      if (lane == 0) barrier_arrive(at.k_empty + 8 * k_ring.stage);
      k_ring.next();
      if (tiles == 1) hide(s, 0, keys, row);
      softmax.take(s, scales);
      to_weights(p, s);
      for (i32 i = 1; i < tiles; i++) {
        barrier_wait(at.k_full + 8 * k_ring.stage, k_ring.phase);
        named_sync(mine, 256);
        start_scores(s, q_rows, k_tiles + k_ring.stage * K_BYTES);
        barrier_wait(at.v_full + 8 * v_ring.stage, v_ring.phase);
        start_sums(o, p, v_tiles + v_ring.stage * V_BYTES);
        named_arrive(other, 256);
        products_wait<1>();
        pin(s);
        if (lane == 0) barrier_arrive(at.k_empty + 8 * k_ring.stage);
        k_ring.next();
        if (i == tiles - 1) hide(s, i * BN, keys - i * BN, row);
        softmax.take(s, scales);
        products_wait<0>();
        pin(o);
        if (lane == 0) barrier_arrive(at.v_empty + 8 * v_ring.stage);
        v_ring.next();
        UNROLL for (int j = 0; j < 64; j++) o[j] *= scales[j % 4 / 2];
        to_weights(p, s);
      }
      if (lane == 0) barrier_arrive(at.q_empty);
      barrier_wait(at.v_full + 8 * v_ring.stage, v_ring.phase);
      start_sums(o, p, v_tiles + v_ring.stage * V_BYTES);
      products_wait<0>();
      pin(o);
      if (lane == 0) barrier_arrive(at.v_empty + 8 * v_ring.stage);
      v_ring.next();
      float value = operands.v_most[key_head] / LARGEST;
      float factors[2] = {softmax.inverse(0) * value, softmax.inverse(1) * value};
      store_rows(out, o, factors, row, rows, head, heads);
    }
  }
}
