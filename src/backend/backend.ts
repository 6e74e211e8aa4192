// What a tensor is and what a device must do: the whole contract between the networks and a device.
// Layouts are channels-last: rows are `[S, C]`, heads `[S, H, d]`, clips `[T, H, W, C]`. Batch is always one.
import type { DType } from './dtype.js';

/** A dense, row-major array in a device's memory. It lives until its scope ends or its owner disposes of it (twice is harmless). */
export interface Tensor extends Disposable {
  readonly shape: readonly number[];
  readonly dtype: DType;
}

/** A dense, row-major array in host memory: what `upload` takes and `download` gives. */
export interface HostTensor {
  readonly shape: readonly number[];
  readonly dtype: DType;
  /** Little-endian elements, `elementCount(shape) * dtypeBytes(dtype)` bytes. */
  readonly bytes: Uint8Array;
  /** Where `bytes` lies in the process, when it is a view of a mapped file: devices may read from there. */
  readonly address?: bigint;
  /** Dequantisation factors of an FP8 matrix: `[1]` or one per row `[N]`, float32. */
  readonly scale?: HostTensor;
}

/** A matrix or convolution kernel made ready for a device: any stored dtype, merged rows, quantised with scales. */
export interface Weight extends Disposable {
  /** `[N, K]` for matrices and tables, `[O, C, kT, kH, kW]` for convolutions (C per group). */
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly format: WeightFormat;
}

/** How a device keeps a weight: in the dtype it computes in, or as E4M3 with one float32 factor per row. */
export type WeightFormat = 'dense' | 'fp8';

export interface WeightOptions {
  /** `dense` where absent. `fp8` is for matrices whose device lists it. */
  readonly format?: WeightFormat;
  /** Keeps a matrix with the others of its group; on the device where absent. */
  readonly group?: WeightGroup;
}

/** Weights that are used together, such as those of a layer. */
export interface WeightGroup {
  /** Ops enqueued from here on may use these weights, and of the same offload no others. The next group's come meanwhile. */
  enter(next?: WeightGroup): void;
}

/**
 * Groups of weights, entered one after the other. A device with a memory of its own keeps them in the host's and has room for two;
 * all weights of all groups are made before the first is entered.
 */
export interface Offload extends Disposable {
  group(): WeightGroup;
  /** Gives the device memory back until a group is entered again, unless a captured graph uses it. */
  release(): void;
}

/**
 * Rows in E4M3 with a factor each, made once for all FP8 products that read them. Row s stands for `values[s] * scales[s]`,
 * `scales[s] = max(amax(row) / 448, 1e-12)`.
 */
export interface QuantizedRows {
  readonly values: Tensor; // f8e4m3 [..., K]
  readonly scales: Tensor; // f32, one per row
}

/** What products read. */
export type Rows = Tensor | QuantizedRows;

/** A sum that goes on, and its norm for the next product. */
export interface NormedSum<T extends Rows> {
  readonly sum: Tensor;
  readonly normed: T;
}

/** How `weight` prepares stored rows. */
export type WeightUse = 'matrix' | 'table' | 'convolution' | 'transposed-convolution';

export type Activation = 'silu' | 'relu2' | 'gelu' | 'abs';

/** A recorded sequence of ops. `replay` runs it again on the same memory. */
export interface Graph extends Disposable {
  replay(): void;
}

/** Keys and values that queries attend to. Several are read as if concatenated along rows. */
export interface KeySegment {
  readonly k: Tensor; // [L, G, d]
  readonly v: Tensor; // [L, G, d]
  /** int32 `[1]`: rows that count, where `k` and `v` are padded. Absent: all L. */
  readonly length?: Tensor;
}

export interface AttentionOptions {
  /** Query i sees key rows 0..i. Needs one segment with as many rows as queries. */
  readonly causal?: boolean;
  /** Factor on the scores; 1/sqrt(d) when absent. */
  readonly scale?: number;
}

export interface MatmulOptions {
  readonly bias?: Tensor; // [N]
}

export interface NormOptions {
  readonly eps: number;
  /** Applied to the result in the same pass. */
  readonly activation?: Activation;
  /** Frames `[F, ...x.shape[1:]]` put in front of the result: the history a causal convolution reads. Not normalised. */
  readonly front?: Tensor;
}

export interface ConvOptions {
  readonly bias?: Tensor; // [O]
  readonly stride?: readonly [number, number, number];
  /** Zeros before and after each of T, H, W. */
  readonly padding?: readonly [readonly [number, number], readonly [number, number], readonly [number, number]];
  readonly dilation?: readonly [number, number, number];
  readonly groups?: number;
}

export interface ConvTransposeOptions {
  readonly bias?: Tensor; // [O]
  readonly stride: number;
  readonly padding: number;
  readonly outputPadding: number;
}

/** How a merged projection is split into heads, normed and rotated. */
export interface HeadOptions {
  readonly heads: number; // H
  readonly kvHeads: number; // G
  readonly headDim: number; // d
  readonly qNorm?: Tensor; // [d]
  readonly kNorm?: Tensor; // [d]
  readonly eps: number;
  readonly cos: Tensor; // [S, d], float32
  readonly sin: Tensor; // [S, d], float32
}

/** Where `headsRope` writes keys and values. */
export interface KvRows {
  readonly k: Tensor; // [S, G, d]
  readonly v: Tensor; // [S, G, d]
}

/** A weighted sum whose weights lie in device memory, so that a captured step reads the row of the step it is in. */
export interface Combination {
  /** Equal shapes. Terms with a zero coefficient are skipped, so they may hold anything. */
  readonly terms: readonly Tensor[];
  readonly coefficients: Tensor; // [steps, terms], float32
  readonly step: Tensor; // int32 [1]
}

/** Tensors a scope hands out to its caller. */
export type Kept =
  | Tensor
  | QuantizedRows
  | NormedSum<Rows>
  | null
  | undefined
  | readonly Kept[]
  | { readonly [name: string]: Kept };

/**
 * A device. Ops check their arguments first (`guards.ts`, throwing `ShapeError`), enqueue work in order and return new
 * tensors, except the three that write into a given one: `write`, `headsRope` (keys and values), `linearCombination`.
 * A fused op is defined by its composite in `composites.ts`.
 */
export interface Backend extends AsyncDisposable {
  readonly name: string;
  /** The dtype networks compute in: `f32` on the CPU, `bf16` or `f32` on CUDA. */
  readonly activationDtype: 'f32' | 'bf16';
  /** What `weight` can make; `dense` always. */
  readonly weightFormats: readonly WeightFormat[];

  // Memory
  /** Copies host elements to the device unchanged. */
  upload(host: HostTensor): Tensor;
  /**
   * Makes stored rows ready. Several parts are merged along the first axis (QKV, gate/up). The host bytes must stay valid.
   * @throws UnsupportedFormatError for a format that is not among `weightFormats`
   */
  weight(parts: readonly HostTensor[], use: WeightUse, options?: WeightOptions): Weight;
  /** Groups whose weights leave the device between uses; where weights lie in host memory anyway they stay. */
  offload(): Offload;
  zeros(shape: readonly number[], dtype: DType): Tensor;
  download(tensor: Tensor): Promise<HostTensor>;
  /** Runs `body` (which returns null when it keeps nothing) and frees every tensor made in it, except those it returns, which go to the surrounding scope or the caller. */
  scope<T extends Kept>(body: () => T): T;
  /** Records `body`; nothing is run until `replay`. All tensors that outlive a replay must be made before. */
  capture(body: () => void): Graph;
  synchronize(): Promise<void>;

  // Layout
  /** The same elements under another shape; shares memory. */
  view(x: Tensor, shape: readonly number[]): Tensor;
  /** Rows start..end of an axis. Axis 0 shares memory with `x`, any other axis is a copy. */
  slice(x: Tensor, axis: number, start: number, end: number): Tensor;
  permute(x: Tensor, axes: readonly number[]): Tensor;
  concat(parts: readonly Tensor[], axis: number): Tensor;
  cast(x: Tensor, dtype: DType): Tensor;
  /** Copies `src` into `dst` (equal shapes; dtype converted). */
  write(dst: Tensor, src: Tensor): void;

  // Products
  /**
   * `x [..., K]` times the transpose of `w [N, K]`, plus bias: `[..., N]`. Quantised rows need an FP8 weight; with a plain
   * tensor an FP8 weight counts as the numbers it stands for.
   */
  matmul(x: Rows, w: Weight, options?: MatmulOptions): Tensor;
  /** Grouped-query attention: `q [S, H, d]` over the segments, softmax in float32: `[S, H, d]`. H is a multiple of G. */
  attention(q: Tensor, segments: readonly KeySegment[], options?: AttentionOptions): Tensor;
  /** Cross-correlation of `x [T, H, W, C]` with `w [O, C/groups, kT, kH, kW]`: `[T', H', W', O]`. */
  conv(x: Tensor, w: Weight, options?: ConvOptions): Tensor;
  /** Transposed 1-D convolution of `x [T, C]` with `w [C, O, k]`: `[(T-1)*stride - 2*padding + k + outputPadding, O]`. */
  convTranspose(x: Tensor, w: Weight, options: ConvTransposeOptions): Tensor;

  // Norms, over the last axis, in float32
  /** `x * rsqrt(mean(x^2) + eps) * weight`. */
  rmsNorm(x: Tensor, weight: Tensor, options: NormOptions): Tensor;
  /** `x + y`, rounded to their dtype, and its RMS norm. */
  addNorm(x: Tensor, y: Tensor, weight: Tensor, eps: number): NormedSum<Tensor>;
  /** `(x - mean) * rsqrt(var + eps) * weight [+ bias]`. */
  layerNorm(x: Tensor, weight: Tensor, bias: Tensor | null, eps: number): Tensor;

  // Quantisation, row by row (see `QuantizedRows`); fused ones quantise what they compute before it is rounded
  quantizeRows(x: Tensor): QuantizedRows;
  quantizedNorm(x: Tensor, weight: Tensor, eps: number): QuantizedRows;
  quantizedAddNorm(x: Tensor, y: Tensor, weight: Tensor, eps: number): NormedSum<QuantizedRows>;
  quantizedSwiglu(x: Tensor): QuantizedRows;

  // Pointwise
  /** Equal shapes, or `b` has the shape of the last axis of `a`, or of its last axes. */
  add(a: Tensor, b: Tensor): Tensor;
  multiply(a: Tensor, b: Tensor): Tensor;
  activation(x: Tensor, kind: Activation): Tensor;
  /** `x [S, 2F]`, gate first: `silu(gate) * up`, `[S, F]`. */
  swiglu(x: Tensor): Tensor;
  /** SnakeBeta, per channel of the last axis: `x + sin(exp(alpha) x)^2 / (exp(beta) + 1e-9)`. */
  snake(x: Tensor, alpha: Tensor, beta: Tensor): Tensor;
  /** Mean over the last axis, which is dropped. */
  mean(x: Tensor): Tensor;
  /** `dst = sum_k coefficients[step, k] * terms[k]`, in float32. `dst` may be one of the terms. */
  linearCombination(dst: Tensor, combination: Combination): void;

  // Rows and positions
  /** Rotate-half rotary embedding of `x [S, H, d]` by `cos`, `sin` `[S, d]`. */
  rope(x: Tensor, cos: Tensor, sin: Tensor): Tensor;
  /** Splits `qkv [S, (H + 2G) d]`, norms and rotates q and k, writes k and v into `into`, returns q `[S, H, d]`. */
  headsRope(qkv: Tensor, options: HeadOptions, into: KvRows): Tensor;
  /** Rows of `table [V, C]` by int32 `ids [S]`: `[S, C]` in the activation dtype (a tensor table keeps its dtype). */
  embed(table: Weight | Tensor, ids: Tensor): Tensor;
  /** `x [S, C] + mask[s] * row`: `row [1, C]` or `[C]`, float32 `mask [S]`. */
  addRows(x: Tensor, row: Tensor, mask: Tensor): Tensor;
  /** Repeats each pixel of `x [T, H, W, C]` `factor` times in height and width. */
  upsampleNearest(x: Tensor, factor: number): Tensor;

  // Output
  /** `[-1, 1]` to bytes: clamp, `round((x + 1) * 127.5)` half to even. */
  toRgb8(x: Tensor): Tensor;
}
