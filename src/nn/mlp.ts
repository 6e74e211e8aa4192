// Feed-forward blocks: SwiGLU (`down(silu(gate x) * up x)`) and squared ReLU (`down(relu(up x)^2)`). Source: spec, section 2.
import type { Backend, Rows, Tensor } from '../backend/index.js';
import type { WeightReader } from '../weights/index.js';
import { dense, type Linear, type LinearFormat, linear, readLinear, widened } from './linear.js';

export type MlpKind = 'swiglu' | 'relu2';

export interface Mlp {
  readonly kind: MlpKind;
  readonly up: Linear; // swiglu: [2F, D], gate rows first; relu2: [F, D]
  readonly down: Linear; // [D, F]
}

export interface MlpLayout {
  readonly kind: MlpKind;
  readonly hidden: number; // D
  readonly inner: number; // F
}

export interface MlpFormats {
  readonly up: LinearFormat;
  readonly down: LinearFormat;
}

export function readMlp(
  b: Backend,
  reader: WeightReader,
  { kind, hidden, inner }: MlpLayout,
  formats: MlpFormats = { up: dense, down: dense },
): Mlp {
  const up = { name: 'up_proj', rows: inner };
  const parts = kind === 'swiglu' ? [{ name: 'gate_proj', rows: inner }, up] : [up];
  return {
    kind,
    up: readLinear(b, reader, parts, hidden, formats.up),
    down: readLinear(b, reader, [{ name: 'down_proj', rows: hidden }], inner, formats.down),
  };
}

/** The same block without quantised rows. */
export function widenedMlp({ kind, up, down }: Mlp): Mlp {
  return { kind, up: widened(up), down: widened(down) };
}

/** `x [S, D]` to `[S, D]`. */
export function mlp(b: Backend, block: Mlp, x: Rows): Tensor {
  return linear(b, block.down, activate(b, block, linear(b, block.up, x))); // [S, F] -> [S, D]
}

function activate(b: Backend, { kind, down }: Mlp, inner: Tensor): Rows {
  if (kind === 'relu2') return b.activation(inner, 'relu2');
  return down.quantizesRows ? b.quantizedSwiglu(inner) : b.swiglu(inner);
}
