// Key and value segments one behind the other in one buffer each, the padded one last: its rows beyond the true length become zeros,
// which a masked product may read. Also the lengths of queries and keys, for a library that wants them on the device.
#include "common.cuh"

struct Segments {
  const uint4* k[SEGMENTS];
  const uint4* v[SEGMENTS];
  i64 units[SEGMENTS];  // 16 bytes each
  const i32* length;    // of the last segment; null where all its rows count
  i64 row_units;        // of one row of keys
  i32 rows, keys;       // queries, keys of all segments but the last
};

extern "C" __global__ void join_keys(uint4* k, uint4* v, i32* lengths, Segments s) {
  i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  i64 last = s.length ? *s.length : s.units[SEGMENTS - 1] / s.row_units;
  if (i == 0) {
    lengths[0] = s.rows;
    lengths[1] = s.keys + (i32)last;
  }
  i64 at = i;
  UNROLL for (int segment = 0; segment < SEGMENTS; segment++) {
    if (at >= 0 && at < s.units[segment]) {
      bool counts = segment < SEGMENTS - 1 || at < last * s.row_units;
      uint4 zero = {0, 0, 0, 0};
      k[i] = counts ? s.k[segment][at] : zero;
      v[i] = counts ? s.v[segment][at] : zero;
    }
    at -= s.units[segment];
  }
}
