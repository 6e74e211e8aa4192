// Attention on Hopper for bfloat16 heads of 128: one warp copies tiles, two warpgroups of 64 query rows each multiply them.
// While one group takes its softmax the other has the tensor cores, and each group's next scores are multiplied during its own
// softmax (the schedule of FlashAttention-3, Shah et al. 2024, sections 3.1 and 3.2). Key segments follow each other as if
// concatenated. Blocks stay resident and walk over (head, 128 query rows), heads that share keys next to each other.
#define D 128
#define BM 128
#define BN 176
#define STAGES 2
#include "attention.cuh"

#define Q_HALF (BM * 128)
#define KV_HALF (BN * 128)
#define KV_BYTES (2 * KV_HALF)
#define GROUPS 2

struct alignas(64) Operands {
  TensorMap q; // [rows, heads, 128]
  TensorMap k[SEGMENTS]; // [rows, key heads, 128]
  TensorMap v[SEGMENTS];
  const i32* length[SEGMENTS]; // rows that count, or null
  i32 rows[SEGMENTS];
};

// The key tile `index`: its segment, first row and rows that count.
struct KeyTile {
  i32 segment, first, count;
};

struct Walk {
  i32 rows[SEGMENTS];
  i32 tiles;

  __device__ __forceinline__ Walk(const Operands& operands, i32 last_seen) {
    tiles = 0;
    UNROLL for (int s = 0; s < SEGMENTS; s++) {
      rows[s] = operands.length[s] ? min(*operands.length[s], operands.rows[s]) : operands.rows[s];
      if (CAUSAL) rows[s] = min(rows[s], last_seen);
      tiles += (rows[s] + BN - 1) / BN;
    }
  }

  __device__ __forceinline__ KeyTile at(i32 index) const {
    KeyTile tile = {0, 0, 0};
    UNROLL for (int s = 0; s < SEGMENTS; s++) {
      i32 count = (rows[s] + BN - 1) / BN;
      if (index >= 0 && index < count) tile = {s, index * BN, min(BN, rows[s] - index * BN)};
      index -= count;
    }
    return tile;
  }
};

__device__ __forceinline__ void copy_tiles(const Operands& operands, const Work& work, const Barriers& at, u32 q_tile, u32 k_tiles, u32 v_tiles) {
  Ring ring = {0, 1};
  u32 q_phase = 1;
  for (i32 index = blockIdx.x; index < work.blocks; index += gridDim.x) {
    i32 first, head, key_head;
    work.place(index, first, head, key_head);
    Walk walk(operands, min(first + BM, work.rows));
    barrier_wait(at.q_empty, q_phase);
    q_phase ^= 1;
    barrier_expect(at.q_full, 2 * Q_HALF);
    copy_box(q_tile, &operands.q, at.q_full, 0, head, first);
    copy_box(q_tile + Q_HALF, &operands.q, at.q_full, 64, head, first);
    for (i32 i = 0; i < walk.tiles; i++) {
      KeyTile tile = walk.at(i);
      u32 k_full = at.k_full + 8 * ring.stage, v_full = at.v_full + 8 * ring.stage;
      u32 k_to = k_tiles + ring.stage * KV_BYTES, v_to = v_tiles + ring.stage * KV_BYTES;
      barrier_wait(at.k_empty + 8 * ring.stage, ring.phase);
      barrier_expect(k_full, KV_BYTES);
      copy_box(k_to, &operands.k[tile.segment], k_full, 0, key_head, tile.first);
      copy_box(k_to + KV_HALF, &operands.k[tile.segment], k_full, 64, key_head, tile.first);
      barrier_wait(at.v_empty + 8 * ring.stage, ring.phase);
      barrier_expect(v_full, KV_BYTES);
      copy_box(v_to, &operands.v[tile.segment], v_full, 0, key_head, tile.first);
      copy_box(v_to + KV_HALF, &operands.v[tile.segment], v_full, 64, key_head, tile.first);
      ring.next();
    }
  }
}

__device__ __forceinline__ void start_scores(float (&s)[88], u32 q_rows, u32 k_tile) {
  u64 q = tile_descriptor(q_rows, 16, 1024), k = tile_descriptor(k_tile, 16, 1024);
  pin(s);
  products_begin();
  UNROLL for (int i = 0; i < D / 16; i++) {
    u32 inside = i % 4 * 32;
    multiply_64x176(s, q + ((i / 4 * Q_HALF + inside) >> 4), k + ((i / 4 * KV_HALF + inside) >> 4), i > 0);
  }
  products_commit();
  pin(s);
}

__device__ __forceinline__ void start_sums(float (&o)[64], const u32 (&p)[44], u32 v_tile) {
  u64 v = tile_descriptor(v_tile, KV_HALF, 1024);
  pin(o);
  products_begin();
  UNROLL for (int i = 0; i < BN / 16; i++)
    multiply_64x128(o, p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3], v + ((i * 2048) >> 4), 1);
  products_commit();
  pin(o);
}

__device__ __forceinline__ void to_weights(u32 (&p)[44], const float (&s)[88]) {
  UNROLL for (int i = 0; i < 44; i++) p[i] = pack_bf16(s[2 * i], s[2 * i + 1]);
}

// Rows of a value tile that do not count may hold anything: zero times a NaN would be one.
__device__ __forceinline__ void clear_rows(u32 v_tile, i32 from, i32 group) {
  for (i32 i = threadIdx.x % 128; i < (BN - from) * 16; i += 128) {
    u32 to = v_tile + i % 2 * KV_HALF + (from + i / 16) * 128 + i % 16 / 2 * 16;
    asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(to), "r"(0) : "memory");
  }
  fence_async();
  named_sync(4 + group, 128);
}

extern "C" __global__ void __launch_bounds__(384, 1)
    hopper_attention(bf16* out, i32 rows, i32 heads, i32 key_heads, float scale, const __grid_constant__ Operands operands) {
  DYNAMIC_SHARED(memory);
  __shared__ __align__(8) u64 barriers[2 + 4 * STAGES];
  u32 q_tile = (shared_address(memory) + 1023) & ~1023u;
  u32 k_tiles = q_tile + 2 * Q_HALF, v_tiles = k_tiles + STAGES * KV_BYTES;
  Barriers at(shared_address(barriers));
  if (threadIdx.x == 0) at.init(4 * GROUPS);
  __syncthreads();
  Work work(rows, heads, key_heads);
  if (threadIdx.x < 128) {
    give_registers<24>();
    if (threadIdx.x == 0) copy_tiles(operands, work, at, q_tile, k_tiles, v_tiles);
  } else {
    take_registers<240>();
    i32 group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
    i32 mine = 1 + group, other = 2 - group;
    u32 q_rows = q_tile + group * 64 * 128;
    Ring keys = {0, 0}, values = {0, 0};
    u32 q_phase = 0;
    if (group == 1) named_arrive(other, 256);
    for (i32 index = blockIdx.x; index < work.blocks; index += gridDim.x) {
      i32 first, head, key_head;
      work.place(index, first, head, key_head);
      Walk walk(operands, min(first + BM, rows));
      i32 row = first + group * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
      float s[88], o[64], scales[2];
      u32 p[44];
      Softmax<88> softmax(scale * LOG2E, 0.0f);
      UNROLL for (int i = 0; i < 64; i++) o[i] = 0.0f;
      barrier_wait(at.q_full, q_phase);
      q_phase ^= 1;
      if (walk.tiles > 0) {
        barrier_wait(at.k_full + 8 * keys.stage, keys.phase);
        start_scores(s, q_rows, k_tiles + keys.stage * KV_BYTES);
        products_wait<0>();
        pin(s);
        if (lane == 0) barrier_arrive(at.k_empty + 8 * keys.stage);
        keys.next();
        KeyTile tile = walk.at(0);
        if (CAUSAL || tile.count < BN) hide(s, tile.first, tile.count, row);
        softmax.take(s, scales);
        to_weights(p, s);
        for (i32 i = 1; i < walk.tiles; i++) {
          barrier_wait(at.k_full + 8 * keys.stage, keys.phase);
          named_sync(mine, 256);
          start_scores(s, q_rows, k_tiles + keys.stage * KV_BYTES);
          barrier_wait(at.v_full + 8 * values.stage, values.phase);
          if (tile.count < BN) clear_rows(v_tiles + values.stage * KV_BYTES, tile.count, group);
          start_sums(o, p, v_tiles + values.stage * KV_BYTES);
          named_arrive(other, 256);
          products_wait<1>();
          pin(s);
          if (lane == 0) barrier_arrive(at.k_empty + 8 * keys.stage);
          keys.next();
          tile = walk.at(i);
          if (CAUSAL || tile.count < BN) hide(s, tile.first, tile.count, row);
          softmax.take(s, scales);
          products_wait<0>();
          pin(o);
          if (lane == 0) barrier_arrive(at.v_empty + 8 * values.stage);
          values.next();
          UNROLL for (int j = 0; j < 64; j++) o[j] *= scales[j % 4 / 2];
          to_weights(p, s);
        }
        if (lane == 0) barrier_arrive(at.q_empty);
        barrier_wait(at.v_full + 8 * values.stage, values.phase);
        if (tile.count < BN) clear_rows(v_tiles + values.stage * KV_BYTES, tile.count, group);
        start_sums(o, p, v_tiles + values.stage * KV_BYTES);
        products_wait<0>();
        pin(o);
        if (lane == 0) barrier_arrive(at.v_empty + 8 * values.stage);
        values.next();
      } else if (lane == 0) barrier_arrive(at.q_empty);
      float factors[2] = {softmax.inverse(0), softmax.inverse(1)};
      store_rows(out, o, factors, row, rows, head, heads);
    }
  }
}
