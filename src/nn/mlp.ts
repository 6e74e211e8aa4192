// Feed-forward blocks: SwiGLU (`down(silu(gate x) * up x)`) and squared ReLU (`down(relu(up x)^2)`). Source: spec, section 2.
import type { Backend, Tensor } from '../backend/index.js';
import type { WeightReader } from '../weights/index.js';
import { type Linear, linear, readLinear } from './linear.js';

export type MlpKind = 'swiglu' | 'relu2';

export interface Mlp {
  readonly kind: MlpKind;
  readonly up: Linear; // swiglu: [2F, D], gate rows first; relu2: [F, D]
  readonly down: Linear; // [D, F]
}

export function readMlp(b: Backend, reader: WeightReader, kind: MlpKind, hidden: number, inner: number): Mlp {
  const up = { name: 'up_proj', rows: inner };
  const parts = kind === 'swiglu' ? [{ name: 'gate_proj', rows: inner }, up] : [up];
  return {
    kind,
    up: readLinear(b, reader, parts, hidden),
    down: readLinear(b, reader, [{ name: 'down_proj', rows: hidden }], inner),
  };
}

/** `x [S, D]` to `[S, D]`. */
export function mlp(b: Backend, block: Mlp, x: Tensor): Tensor {
  const inner = linear(b, block.up, x);
  return linear(b, block.down, block.kind === 'swiglu' ? b.swiglu(inner) : b.activation(inner, 'relu2')); // [S, F] -> [S, D]
}
