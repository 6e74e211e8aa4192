// silu(gate) * up of the two halves of each row.
#include "common.cuh"

extern "C" __global__ void swiglu(TYPE* to, const TYPE* x, INDEX packs, INDEX row_packs) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= packs) return;
  const TYPE* row = x + ((i / row_packs) * 2 * row_packs + i % row_packs) * VEC;
  float gate[VEC], up[VEC];
  load_floats<TYPE, VEC>(row, gate);
  load_floats<TYPE, VEC>(row + row_packs * VEC, up);
  UNROLL for (int k = 0; k < VEC; k++) gate[k] = activate<1>(gate[k]) * up[k];
  store_floats<TYPE, VEC>(to + i * VEC, gate);
}
