// The timestep embedding: 256 sinusoids, then two linear layers with SiLU between, in float32. Source: spec, section 2.
import { type Backend, type Tensor, uploadFloats } from '../backend/index.js';
import type { WeightReader } from '../weights/index.js';
import { type Linear, linear, readBiasedLinear } from './linear.js';

const CHANNELS = 256;
const MAX_PERIOD = 10_000;

export interface TimestepEmbedder {
  readonly first: Linear; // [D, 256]
  readonly second: Linear; // [D, D]
}

export function readTimestepEmbedder(b: Backend, reader: WeightReader, hidden: number): TimestepEmbedder {
  return {
    first: readBiasedLinear(b, reader, 'linear_1', hidden, CHANNELS),
    second: readBiasedLinear(b, reader, 'linear_2', hidden, hidden),
  };
}

/** `[cos(t f_i), sin(t f_i)]` with `f_i = exp(-ln(10000) i / 128)`, each product rounded to float32: `[N, 256]`. */
export function sinusoids(timesteps: Float32Array): Float32Array {
  const half = CHANNELS / 2;
  const out = new Float32Array(timesteps.length * CHANNELS);
  for (const [row, t] of timesteps.entries()) {
    for (let i = 0; i < half; i++) {
      const frequency = Math.fround(Math.exp(Math.fround((-Math.log(MAX_PERIOD) * i) / half)));
      const angle = Math.fround(t * frequency);
      out[row * CHANNELS + i] = Math.cos(angle);
      out[row * CHANNELS + half + i] = Math.sin(angle);
    }
  }
  return out;
}

/** Embeddings of all timesteps of a schedule (already multiplied by the model's timestep scale): `[N, D]`, float32. */
export function embedTimesteps(b: Backend, embedder: TimestepEmbedder, timesteps: Float32Array): Tensor {
  return b.scope(() => {
    const x = uploadFloats(b, sinusoids(timesteps), [timesteps.length, CHANNELS]); // [N, 256]
    const hidden = b.activation(linear(b, embedder.first, x), 'silu'); // [N, D]
    return linear(b, embedder.second, hidden); // [N, D]
  });
}
