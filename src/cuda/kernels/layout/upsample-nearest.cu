// Each pixel repeated in height and width: one thread a unit of the result.
#include "common.cuh"

extern "C" __global__ void upsample_nearest(UNIT* to, const UNIT* from, INDEX count, INDEX width, INDEX pixel, INDEX factor) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  INDEX unit = i % pixel, rest = i / pixel;
  INDEX x = rest % (width * factor), y = rest / (width * factor); // rows of all frames one after the other
  to[i] = from[((y / factor) * width + x / factor) * pixel + unit];
}
