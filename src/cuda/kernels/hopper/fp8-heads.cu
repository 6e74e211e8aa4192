// Heads of 128 bfloat16 to FP8 for `attention-fp8.cu`: largest sizes per head, rows, and values transposed. Segments are read as if
// concatenated; of the last one `length` rows count, the others become zero.
#include "hopper.cuh"

#define D 128
#define LARGEST 448.0f

struct Source {
  const bf16* x[SEGMENTS]; // [rows, heads, 128]
  const i32* length; // or null
  i32 rows[SEGMENTS];
  i32 heads;

  __device__ __forceinline__ i32 rows_of(int s) const {
    return s == SEGMENTS - 1 && length ? min(*length, rows[s]) : rows[s];
  }

  // Where a head of a row lies; null where it does not count.
  __device__ __forceinline__ const bf16* at(i32 row, i32 head) const {
    UNROLL for (int s = 0; s < SEGMENTS; s++) {
      if (row < rows[s]) return row < rows_of(s) ? x[s] + ((i64)row * heads + head) * D : nullptr;
      row -= rows[s];
    }
    return nullptr;
  }
};

__device__ __forceinline__ float scale_of(const u32* most, i32 head) {
  float size = __uint_as_float(most[head]);
  return size > 0.0f ? LARGEST / size : 1.0f;
}

// Sizes of floats order as their bits do. 16 threads a head of a row.
extern "C" __global__ void fp8_most(u32* most, i32 rows, Source source) {
  i32 head = blockIdx.y, inside = threadIdx.x % 16 * 8;
  float largest = 0.0f;
  for (i32 row = blockIdx.x * 16 + threadIdx.x / 16; row < rows; row += gridDim.x * 16) {
    const bf16* from = source.at(row, head);
    if (!from) continue;
    float x[8];
    load_floats<bf16, 8>(from + inside, x);
    UNROLL for (int i = 0; i < 8; i++) largest = fmaxf(largest, fabsf(x[i]));
  }
  largest = warp_max(largest);
  if (threadIdx.x % 32 == 0) atomicMax(most + head, __float_as_uint(largest));
}

// `out [rows, heads, 128]`, 16 elements a thread.
extern "C" __global__ void fp8_rows(u8* out, const u32* most, i32 rows, Source source) {
  i64 index = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  i64 place = index / 8;
  i32 row = (i32)(place / source.heads), head = (i32)(place % source.heads);
  if (row >= rows) return;
  const bf16* from = source.at(row, head);
  Pack<u32, 4> packed = {{0, 0, 0, 0}};
  if (from) {
    float x[16], scale = scale_of(most, head);
    from += index % 8 * 16;
    load_floats<bf16, 8>(from, *(float(*)[8])x);
    load_floats<bf16, 8>(from + 8, *(float(*)[8])(x + 8));
    UNROLL for (int i = 0; i < 4; i++)
      packed.v[i] = pack_e4m3(x[4 * i] * scale, x[4 * i + 1] * scale, x[4 * i + 2] * scale, x[4 * i + 3] * scale);
  }
  *(Pack<u32, 4>*)(out + index * 16) = packed;
}

// `out [heads, 128, pitch]`: 64 keys of a head a block. Within 32 keys, key 8b + 2t + e goes to place 16 (b / 2) + 4t + 2 (b % 2) + e.
extern "C" __global__ void fp8_values(u8* out, const u32* most, i32 pitch, Source source) {
  __shared__ u16 tile[64][D + 2];
  i32 head = blockIdx.y, first = blockIdx.x * 64;
  for (i32 i = threadIdx.x; i < 64 * D / 2; i += blockDim.x) {
    i32 key = i / (D / 2), column = i % (D / 2) * 2;
    const bf16* from = source.at(first + key, head);
    *(u32*)&tile[key][column] = from ? *(const u32*)(from + column) : 0;
  }
  __syncthreads();
  float scale = scale_of(most, head);
  for (i32 i = threadIdx.x; i < D * 4; i += blockDim.x) {
    i32 column = i / 4, base = i % 4 * 16;
    Pack<u32, 4> packed;
    UNROLL for (int t = 0; t < 4; t++) {
      // Bytes 4t .. 4t + 3 of these 16 places: keys 2t, 2t + 1 of two neighbouring groups of eight.
      float x[4];
      UNROLL for (int e = 0; e < 4; e++) x[e] = scale * to_float(bf16{tile[base + e / 2 * 8 + 2 * t + e % 2][column]});
      packed.v[t] = pack_e4m3(x[0], x[1], x[2], x[3]);
    }
    *(Pack<u32, 4>*)(out + ((i64)head * D + column) * pitch + first + base) = packed;
  }
}
