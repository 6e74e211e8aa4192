// Rows of a table by their ids. An id outside the table gives a row of ones in every bit: NaN in the float dtypes.
#include "common.cuh"

extern "C" __global__ void embed(UNIT* to, const UNIT* table, const i32* ids, INDEX count, INDEX width, i32 rows) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  i32 id = ids[i / width];
  UNIT value;
  if (id >= 0 && id < rows) value = table[(INDEX)id * width + i % width];
  else
    for (int b = 0; b < (int)sizeof(UNIT); b++) ((u8*)&value)[b] = 0xff;
  to[i] = value;
}
