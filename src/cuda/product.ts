// What a matrix product is: its sizes, where its operands lie, and the factors of quantised ones.
/** What products compute in. */
export type FloatType = 'f32' | 'bf16';
export type OperandType = FloatType | 'f8e4m3';

/** A row-major operand: address of its first element, elements from row to row and from batch to batch. */
export interface MatrixOperand {
  readonly address: number;
  readonly dtype: OperandType;
  readonly pitch: number;
  readonly batchStride?: number;
}

/** `out [m, n] = x [m, k] w^T (+ bias) (+ out)`, where `w` is `[n, k]`, or `[k, n]` when `wIsTransposed`. */
export interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly x: MatrixOperand;
  readonly w: MatrixOperand;
  readonly out: MatrixOperand;
  readonly wIsTransposed?: boolean;
  /** Of the output's dtype, `[n]`. */
  readonly bias?: number;
  readonly batch?: number;
  /** Adds to what `out` holds. */
  readonly accumulate?: boolean;
  /** Addresses of float32 factors of the rows of `x` `[m]` and of `w` `[n]`; E4M3 operands only. */
  readonly scales?: { readonly x: number; readonly w: number };
}
