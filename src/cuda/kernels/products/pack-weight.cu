// Stored rows [N, C, taps] as [N, taps, C] in the dtype products read, dequantised. Channels may be a part of a wider row.
#include "common.cuh"

extern "C" __global__ void pack_weight(DST* to, const SRC* from, const float* scales, i64 count, i32 channels, i32 taps, i32 to_channels,
                                       i32 first_channel, i32 row_scale, i32 channel_scale) {
  i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  i64 width = (i64)channels * taps, row = i / width;
  i64 inside = i % width;
  int c = (int)(inside % channels);
  i64 tap = inside / channels;
  float value = to_float(from[row * width + (i64)c * taps + tap]);
  if (scales) value *= scales[row * row_scale + (i64)c * channel_scale];
  to[(row * taps + tap) * to_channels + first_channel + c] = Convert<DST>::from(value);
}
