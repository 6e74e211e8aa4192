// Rotate-half rotary embedding: one thread a pair (j, j + d/2) of a head.
#include "common.cuh"

extern "C" __global__ void rope(TYPE* to, const TYPE* x, const TABLE* cos, const TABLE* sin, INDEX count, INDEX heads, INDEX d) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  INDEX half = d / 2, j = i % half, head = i / half;
  const TYPE* in = x + head * d;
  const TABLE* c = cos + (head / heads) * d;
  const TABLE* s = sin + (head / heads) * d;
  float low = to_float(in[j]), high = to_float(in[j + half]);
  to[head * d + j] = Convert<TYPE>::from(low * to_float(c[j]) - high * to_float(s[j]));
  to[head * d + j + half] = Convert<TYPE>::from(high * to_float(c[j + half]) + low * to_float(s[j + half]));
}
