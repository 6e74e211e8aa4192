// Every fused op written in primitive ones: these are their definitions, and what tests hold a device's fused kernels against.
import type { Backend, HeadOptions, KvRows, NormedSum, NormOptions, QuantizedRows, Tensor } from './backend.js';

/** Norm, then activation, then the history frames in front. */
export function rmsNorm(b: Backend, x: Tensor, weight: Tensor, options: NormOptions): Tensor {
  const normed = b.rmsNorm(x, weight, { eps: options.eps });
  const activated = options.activation ? b.activation(normed, options.activation) : normed;
  return options.front ? b.concat([options.front, activated], 0) : activated;
}

/** The residual sum, then its norm. */
export function addNorm(b: Backend, x: Tensor, y: Tensor, weight: Tensor, eps: number): NormedSum<Tensor> {
  const sum = b.add(x, y);
  return { sum, normed: b.rmsNorm(sum, weight, { eps }) };
}

/** Norm, then quantisation. */
export function quantizedNorm(b: Backend, x: Tensor, weight: Tensor, eps: number): QuantizedRows {
  return b.quantizeRows(b.rmsNorm(x, weight, { eps }));
}

/** The residual sum, its norm, then quantisation. */
export function quantizedAddNorm(
  b: Backend,
  x: Tensor,
  y: Tensor,
  weight: Tensor,
  eps: number,
): NormedSum<QuantizedRows> {
  const { sum, normed } = b.addNorm(x, y, weight, eps);
  return { sum, normed: b.quantizeRows(normed) };
}

/** `silu(gate) * up`, then quantisation. */
export function quantizedSwiglu(b: Backend, x: Tensor): QuantizedRows {
  return b.quantizeRows(b.swiglu(x));
}

/** `silu(gate) * up` of the two halves of the last axis. */
export function swiglu(b: Backend, x: Tensor): Tensor {
  const axis = x.shape.length - 1;
  const size = (x.shape[axis] ?? 0) / 2;
  const gate = b.slice(x, axis, 0, size);
  const up = b.slice(x, axis, size, 2 * size);
  return b.multiply(b.activation(gate, 'silu'), up);
}

/** Split into heads, per-head norm of q and k, rotary positions; k and v are written where attention reads them. */
export function headsRope(b: Backend, qkv: Tensor, options: HeadOptions, into: KvRows): Tensor {
  const { heads, kvHeads, headDim, cos, sin, eps } = options;
  const rows = qkv.shape[0] ?? 0;
  const split = (start: number, count: number) =>
    b.view(b.slice(qkv, 1, start * headDim, (start + count) * headDim), [rows, count, headDim]);
  const turn = (x: Tensor, norm: Tensor | undefined) => b.rope(norm ? b.rmsNorm(x, norm, { eps }) : x, cos, sin);
  b.write(into.k, turn(split(heads, kvHeads), options.kNorm));
  b.write(into.v, split(heads + kvHeads, kvHeads));
  return turn(split(0, heads), options.qNorm);
}

/** `x + mask * row`, as a product of the mask column and the row. */
export function addRows(b: Backend, x: Tensor, row: Tensor, mask: Tensor): Tensor {
  const [rows, c] = [x.shape[0] ?? 0, x.shape[1] ?? 0];
  const column = b.cast(b.view(mask, [rows, 1]), x.dtype);
  const spread = b.concat(
    Array.from({ length: c }, () => column),
    1,
  );
  return b.add(x, b.multiply(spread, b.view(row, [c])));
}
