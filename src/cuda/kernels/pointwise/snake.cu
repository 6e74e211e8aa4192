// SnakeBeta: x + sin(exp(alpha) x)^2 / (exp(beta) + 1e-9), alpha and beta per channel.
#include "common.cuh"

extern "C" __global__ void snake(TYPE* to, const TYPE* x, const TABLE* alpha, const TABLE* beta, INDEX count, INDEX channels) {
  INDEX i = (INDEX)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  INDEX c = i % channels;
  float value = to_float(x[i]);
  float wave = sinf(expf(to_float(alpha[c])) * value);
  to[i] = Convert<TYPE>::from(value + wave * wave / (expf(to_float(beta[c])) + 1e-9f));
}
