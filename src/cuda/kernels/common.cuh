// What every kernel starts from: element types with their conversions, packed loads, reductions. Uses no toolkit header.
#ifndef ORRERY_COMMON
#define ORRERY_COMMON

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

struct bf16 {
  u16 bits;
};
struct f16 {
  u16 bits;
};
struct e4m3 {
  u8 bits;
};
struct e5m2 {
  u8 bits;
};

#ifndef ORRERY_EMULATED
#define DYNAMIC_SHARED(name) extern __shared__ __align__(128) unsigned char name[]
#define UNROLL _Pragma("unroll")
#endif
#define INF __uint_as_float(0x7f800000u)

// A float of E exponent and M mantissa bits; IEEE keeps the top exponent for infinities, else only all ones is NaN.
template <int E, int M, bool IEEE>
__device__ __forceinline__ float decode_small(u32 code) {
  const u32 bias = (1u << (E - 1)) - 1, top = (1u << E) - 1, mask = (1u << M) - 1;
  u32 sign = (code >> (E + M)) << 31, e = (code >> M) & top, m = code & mask;
  if (e == top && IEEE) return __uint_as_float(sign | 0x7f800000u | (m << (23 - M)));
  if (e == top && m == mask) return __uint_as_float(0x7fffffffu);
  if (e == 0) {
    float value = (float)m * __uint_as_float((128 - bias - M) << 23);
    return sign ? -value : value;
  }
  return __uint_as_float(sign | ((e + 127 - bias) << 23) | (m << (23 - M)));
}

// Nearest, ties to even. Beyond the largest number: infinity where INFINITE, else the largest.
template <int E, int M, bool IEEE, bool INFINITE>
__device__ __forceinline__ u32 encode_small(float value) {
  const u32 bias = (1u << (E - 1)) - 1, top = (1u << E) - 1, mask = (1u << M) - 1;
  const u32 largest = IEEE ? (top << M) - 1 : (top << M) + mask - 1;
  u32 bits = __float_as_uint(value), sign = (bits >> 31) << (E + M), size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return sign | (top << M) | mask;
  if (size == 0x7f800000u) return sign | (IEEE ? top << M : largest);
  if (size < ((128 - bias) << 23)) return sign | (u32)rintf(__uint_as_float(size) * __uint_as_float((126 + bias + M) << 23));
  u32 rounded = size + (1u << (22 - M)) - 1 + ((size >> (23 - M)) & 1);
  u32 code = (rounded >> (23 - M)) - ((127 - bias) << M);
  return sign | (code > largest ? (INFINITE ? top << M : largest) : code);
}

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(bf16 x) { return __uint_as_float((u32)x.bits << 16); }
__device__ __forceinline__ float to_float(f16 x) { return decode_small<5, 10, true>(x.bits); }
__device__ __forceinline__ float to_float(e4m3 x) { return decode_small<4, 3, false>(x.bits); }
__device__ __forceinline__ float to_float(e5m2 x) { return decode_small<5, 2, true>(x.bits); }

__device__ __forceinline__ u32 bf16_bits(float x) {
  u32 bits = __float_as_uint(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
  return (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
}

// Two floats as one word of bfloat16, the first in the low half.
__device__ __forceinline__ u32 pack_bf16(float low, float high) {
#ifdef ORRERY_EMULATED
  return bf16_bits(low) | (bf16_bits(high) << 16);
#else
  u32 out;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
  return out;
#endif
}

// Two floats as two bytes of E4M3, the first in the low one; beyond 448 they saturate.
__device__ __forceinline__ u16 pack_e4m3(float low, float high) {
#if !defined(ORRERY_EMULATED) && __CUDA_ARCH__ >= 890
  u16 out;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(out) : "f"(high), "f"(low));
  return out;
#else
  return (u16)(encode_small<4, 3, false, false>(low) | (encode_small<4, 3, false, false>(high) << 8));
#endif
}

template <typename T>
struct Convert;
template <>
struct Convert<float> {
  static __device__ __forceinline__ float from(float x) { return x; }
};
template <>
struct Convert<bf16> {
  static __device__ __forceinline__ bf16 from(float x) { return bf16{(u16)bf16_bits(x)}; }
};
template <>
struct Convert<f16> {
  static __device__ __forceinline__ f16 from(float x) { return f16{(u16)encode_small<5, 10, true, true>(x)}; }
};
template <>
struct Convert<e4m3> {
  static __device__ __forceinline__ e4m3 from(float x) { return e4m3{(u8)encode_small<4, 3, false, false>(x)}; }
};
template <>
struct Convert<e5m2> {
  static __device__ __forceinline__ e5m2 from(float x) { return e5m2{(u8)encode_small<5, 2, true, false>(x)}; }
};

// N neighbouring elements, moved by one access.
template <typename T, int N>
struct alignas(sizeof(T) * N) Pack {
  T v[N];
};

template <typename T, int N>
__device__ __forceinline__ void load_floats(const T* from, float (&to)[N]) {
  Pack<T, N> pack = *(const Pack<T, N>*)from;
  UNROLL for (int i = 0; i < N; i++) to[i] = to_float(pack.v[i]);
}

template <typename T, int N>
struct StoreFloats {
  static __device__ __forceinline__ void store(T* to, const float (&from)[N]) {
    Pack<T, N> pack;
    UNROLL for (int i = 0; i < N; i++) pack.v[i] = Convert<T>::from(from[i]);
    *(Pack<T, N>*)to = pack;
  }
};
template <int N>
struct StoreFloats<bf16, N> {
  static __device__ __forceinline__ void store(bf16* to, const float (&from)[N]) {
    if (N == 1) {
      *to = Convert<bf16>::from(from[0]);
      return;
    }
    Pack<u32, (N + 1) / 2> pack;
    UNROLL for (int i = 0; i + 1 < N; i += 2) pack.v[i / 2] = pack_bf16(from[i], from[i + 1]);
    *(Pack<u32, (N + 1) / 2>*)to = pack;
  }
};

template <int N>
struct StoreFloats<e4m3, N> {
  static __device__ __forceinline__ void store(e4m3* to, const float (&from)[N]) {
    if (N == 1) {
      *to = e4m3{(u8)pack_e4m3(from[0], 0.0f)};
      return;
    }
    Pack<u16, (N + 1) / 2> pack;
    UNROLL for (int i = 0; i + 1 < N; i += 2) pack.v[i / 2] = pack_e4m3(from[i], from[i + 1]);
    *(Pack<u16, (N + 1) / 2>*)to = pack;
  }
};

template <typename T, int N>
__device__ __forceinline__ void store_floats(T* to, const float (&from)[N]) {
  StoreFloats<T, N>::store(to, from);
}

__device__ __forceinline__ float warp_sum(float x) {
  UNROLL for (int step = 16; step > 0; step >>= 1) x += __shfl_xor_sync(0xffffffffu, x, step);
  return x;
}

__device__ __forceinline__ float warp_max(float x) {
  UNROLL for (int step = 16; step > 0; step >>= 1) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, step));
  return x;
}

// 0 none, 1 silu, 2 relu2, 3 gelu, 4 abs.
template <int ACTIVATION>
__device__ __forceinline__ float activate(float x) {
  if (ACTIVATION == 1) return x / (1.0f + expf(-x));
  if (ACTIVATION == 2) return x > 0.0f ? x * x : 0.0f;
  if (ACTIVATION == 3) return 0.5f * x * erfcf(-0.70710678118654752f * x);
  if (ACTIVATION == 4) return fabsf(x);
  return x;
}

// silu by the hardware's exponential and quotient, to about 2^-21; gates below -87 give zero.
__device__ __forceinline__ float quick_silu(float x) {
#ifdef ORRERY_EMULATED
  return activate<1>(x);
#else
  return __fdividef(x, 1.0f + __expf(-x));
#endif
}

#endif
