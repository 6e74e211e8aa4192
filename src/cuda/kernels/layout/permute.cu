// Elements in the order of permuted axes: one thread a unit of the result, read by strides.
#include "common.cuh"

struct Axes {
  u32 sizes[8];
  u64 strides[8];
};

extern "C" __global__ void permute(UNIT* to, const UNIT* from, INDEX count, Axes axes) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  INDEX rest = i, source = 0;
  UNROLL for (int axis = RANK - 1; axis > 0; axis--) {
    INDEX size = axes.sizes[axis];
    source += (rest % size) * (INDEX)axes.strides[axis];
    rest /= size;
  }
  to[i] = from[source + rest * (INDEX)axes.strides[0]];
}
