// Rows of equal width from one pitch to another: what slices and concatenations are made of.
#include "common.cuh"

extern "C" __global__ void copy_rows(UNIT* to, const UNIT* from, INDEX count, INDEX width, INDEX to_pitch, INDEX from_pitch) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  INDEX row = i / width, column = i % width;
  to[row * to_pitch + column] = from[row * from_pitch + column];
}
