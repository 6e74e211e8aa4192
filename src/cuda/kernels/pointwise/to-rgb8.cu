// [-1, 1] to bytes: clamp, then (x + 1) * 127.5 rounded half to even.
#include "common.cuh"

extern "C" __global__ void to_rgb8(u8* to, const TYPE* x, INDEX packs) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= packs) return;
  float values[VEC];
  load_floats<TYPE, VEC>(x + i * VEC, values);
  Pack<u8, VEC> out;
  UNROLL for (int k = 0; k < VEC; k++) out.v[k] = (u8)rintf((fminf(1.0f, fmaxf(-1.0f, values[k])) + 1.0f) * 127.5f);
  *(Pack<u8, VEC>*)(to + i * VEC) = out;
}
