// The residual stream between linear layers: sums and norms in one pass, quantised where the layer that reads them wants it.
import type { Backend, NormedSum, Rows, Tensor } from '../backend/index.js';
import type { Linear } from './linear.js';

/** A norm and the layer that reads what it makes; null for a reader of plain rows. */
export interface NormBefore {
  readonly weight: Tensor; // [D]
  readonly eps: number;
  readonly reader: Linear | null;
}

/** The norm of `x [S, D]`. */
export function normRows(b: Backend, x: Tensor, { weight, eps, reader }: NormBefore): Rows {
  return reader?.quantizesRows ? b.quantizedNorm(x, weight, eps) : b.rmsNorm(x, weight, { eps });
}

/** `x + y` and its norm, `[S, D]` each. */
export function addNormRows(b: Backend, x: Tensor, y: Tensor, { weight, eps, reader }: NormBefore): NormedSum<Rows> {
  return reader?.quantizesRows ? b.quantizedAddNorm(x, y, weight, eps) : b.addNorm(x, y, weight, eps);
}
