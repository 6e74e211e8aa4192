// Shapes and dtypes of each op. Every device calls the guard first; it throws `ShapeError` or returns the result's shape.
import type {
  Combination,
  ConvOptions,
  ConvTransposeOptions,
  HeadOptions,
  KeySegment,
  KvRows,
  NormOptions,
  QuantizedRows,
  Rows,
  Tensor,
  Weight,
} from './backend.js';
import { elementCount } from './dtype.js';
import { ShapeError } from './errors.js';
import { isQuantized } from './quantized-rows.js';

type Shape = readonly number[];

function show(shape: Shape): string {
  return `[${shape.join(', ')}]`;
}

function expect(condition: boolean, op: string, message: () => string): asserts condition {
  if (!condition) throw new ShapeError(op, message());
}

function isShape(shape: Shape, wanted: Shape): boolean {
  return shape.length === wanted.length && shape.every((size, i) => size === wanted[i]);
}

function expectShape(op: string, what: string, tensor: { readonly shape: Shape }, wanted: Shape): void {
  expect(isShape(tensor.shape, wanted), op, () => `${what} is ${show(tensor.shape)}, expected ${show(wanted)}`);
}

function axisSize(op: string, shape: Shape, axis: number): number {
  const size = shape[axis];
  expect(size !== undefined, op, () => `axis ${axis} of ${show(shape)}`);
  return size;
}

function lastAxis(op: string, shape: Shape): number {
  return axisSize(op, shape, shape.length - 1);
}

export function viewShape(x: Tensor, shape: Shape): Shape {
  expect(elementCount(shape) === elementCount(x.shape), 'view', () => `${show(x.shape)} as ${show(shape)}`);
  return shape;
}

export function sliceShape(x: Tensor, axis: number, start: number, end: number): Shape {
  const size = axisSize('slice', x.shape, axis);
  expect(
    Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= size,
    'slice',
    () => `${start}..${end} of axis ${axis} with ${size} rows`,
  );
  return x.shape.map((s, i) => (i === axis ? end - start : s));
}

export function permuteShape(x: Tensor, axes: Shape): Shape {
  const sorted = [...axes].sort((a, b) => a - b);
  expect(isShape(sorted, [...x.shape.keys()]), 'permute', () => `axes ${show(axes)} of ${show(x.shape)}`);
  return axes.map((axis) => axisSize('permute', x.shape, axis));
}

export function concatShape(parts: readonly Tensor[], axis: number): Shape {
  const first = parts[0];
  expect(first !== undefined, 'concat', () => 'no parts');
  axisSize('concat', first.shape, axis);
  for (const part of parts) {
    const fits =
      part.shape.length === first.shape.length && part.shape.every((s, i) => i === axis || s === first.shape[i]);
    expect(
      fits && part.dtype === first.dtype,
      'concat',
      () => `${part.dtype} ${show(part.shape)} beside ${first.dtype} ${show(first.shape)} on axis ${axis}`,
    );
  }
  const total = parts.reduce((sum, part) => sum + (part.shape[axis] ?? 0), 0);
  return first.shape.map((s, i) => (i === axis ? total : s));
}

export function checkWrite(dst: Tensor, src: Tensor): void {
  expectShape('write', 'src', src, dst.shape);
}

export function matmulShape(rows: Rows, w: Weight, bias?: Tensor): Shape {
  if (isQuantized(rows)) checkQuantized(rows, w);
  const x = isQuantized(rows) ? rows.values : rows;
  const k = lastAxis('matmul', x.shape);
  expect(w.shape.length === 2 && w.shape[1] === k, 'matmul', () => `x ${show(x.shape)} by w ${show(w.shape)}`);
  const n = axisSize('matmul', w.shape, 0);
  if (bias) expectShape('matmul', 'bias', bias, [n]);
  return [...x.shape.slice(0, -1), n];
}

function checkQuantized({ values, scales }: QuantizedRows, w: Weight): void {
  expect(
    w.format === 'fp8',
    'matmul',
    () => `quantised rows ${show(values.shape)} by a ${w.format} weight ${show(w.shape)}`,
  );
  expect(
    values.dtype === 'f8e4m3' && scales.dtype === 'f32',
    'matmul',
    () => `values ${values.dtype}, scales ${scales.dtype}`,
  );
  expectShape('matmul', 'scales', scales, [elementCount(values.shape.slice(0, -1))]);
}

/** The rows of a device that has no quantised ones. */
export function plainRows(op: string, x: Rows): Tensor {
  if (isQuantized(x)) throw new ShapeError(op, `quantised rows ${show(x.values.shape)} by a dense weight`);
  return x;
}

/** Shape of the factors of `x`'s rows. */
export function rowScalesShape(op: string, x: { readonly shape: Shape }): Shape {
  expect(lastAxis(op, x.shape) > 0, op, () => `${show(x.shape)} has no elements in a row`);
  return [elementCount(x.shape.slice(0, -1))];
}

/** Returns the total number of key rows. */
export function attentionKeys(q: Tensor, segments: readonly KeySegment[], causal: boolean): number {
  const [rows, heads, d] = q.shape;
  expect(q.shape.length === 3 && rows !== undefined && heads !== undefined, 'attention', () => `q ${show(q.shape)}`);
  expect(segments.length > 0, 'attention', () => 'no keys');
  let total = 0;
  for (const { k, v, length } of segments) {
    const groups = k.shape[1] ?? 0;
    expect(
      k.shape.length === 3 && k.shape[2] === d && groups > 0 && heads % groups === 0,
      'attention',
      () => `q ${show(q.shape)} on k ${show(k.shape)}`,
    );
    expectShape('attention', 'v', v, k.shape);
    if (length) expectShape('attention', 'length', length, [1]);
    total += k.shape[0] ?? 0;
  }
  if (causal)
    expect(segments.length === 1 && total === rows, 'attention', () => `causal with ${rows} queries on ${total} keys`);
  return total;
}

export function convShape(x: Tensor, w: Weight, options: ConvOptions): Shape {
  expect(x.shape.length === 4 && w.shape.length === 5, 'conv', () => `x ${show(x.shape)} by w ${show(w.shape)}`);
  const groups = options.groups ?? 1;
  const out = axisSize('conv', w.shape, 0);
  expect(
    (w.shape[1] ?? 0) * groups === x.shape[3] && out % groups === 0,
    'conv',
    () => `x ${show(x.shape)} by w ${show(w.shape)} in ${groups} groups`,
  );
  if (options.bias) expectShape('conv', 'bias', options.bias, [out]);
  const spatial = [0, 1, 2].map((i) => {
    const [before, after] = options.padding?.[i] ?? [0, 0];
    const reach = (options.dilation?.[i] ?? 1) * ((w.shape[i + 2] ?? 1) - 1) + 1;
    const size = Math.floor(((x.shape[i] ?? 0) + before + after - reach) / (options.stride?.[i] ?? 1)) + 1;
    expect(size > 0, 'conv', () => `x ${show(x.shape)} is smaller than the kernel ${show(w.shape)} on axis ${i}`);
    return size;
  });
  return [...spatial, out];
}

export function convTransposeShape(x: Tensor, w: Weight, options: ConvTransposeOptions): Shape {
  expect(
    x.shape.length === 2 && w.shape.length === 3 && w.shape[0] === x.shape[1],
    'convTranspose',
    () => `x ${show(x.shape)} by w ${show(w.shape)}`,
  );
  const out = axisSize('convTranspose', w.shape, 1);
  if (options.bias) expectShape('convTranspose', 'bias', options.bias, [out]);
  const length =
    ((x.shape[0] ?? 0) - 1) * options.stride - 2 * options.padding + (w.shape[2] ?? 0) + options.outputPadding;
  expect(length > 0, 'convTranspose', () => `x ${show(x.shape)} gives no rows`);
  return [length, out];
}

export function rmsNormShape(x: Tensor, weight: Tensor, options: NormOptions): Shape {
  expectShape('rmsNorm', 'weight', weight, [lastAxis('rmsNorm', x.shape)]);
  if (!options.front) return x.shape;
  const frames = axisSize('rmsNorm', options.front.shape, 0);
  expectShape('rmsNorm', 'front', options.front, [frames, ...x.shape.slice(1)]);
  return [frames + axisSize('rmsNorm', x.shape, 0), ...x.shape.slice(1)];
}

export function addNormShape(x: Tensor, y: Tensor, weight: Tensor): Shape {
  expectShape('addNorm', 'y', y, x.shape);
  expect(x.dtype === y.dtype, 'addNorm', () => `${x.dtype} with ${y.dtype}`);
  expectShape('addNorm', 'weight', weight, [lastAxis('addNorm', x.shape)]);
  return x.shape;
}

export function layerNormShape(x: Tensor, weight: Tensor, bias: Tensor | null): Shape {
  const c = lastAxis('layerNorm', x.shape);
  expectShape('layerNorm', 'weight', weight, [c]);
  if (bias) expectShape('layerNorm', 'bias', bias, [c]);
  return x.shape;
}

/** `b` equals `a` or its last axes. */
export function pointwiseShape(op: 'add' | 'multiply', a: Tensor, b: Tensor): Shape {
  expectShape(op, 'b', b, a.shape.slice(a.shape.length - b.shape.length));
  expect(a.dtype === b.dtype, op, () => `${a.dtype} with ${b.dtype}`);
  return a.shape;
}

export function swigluShape(x: Tensor): Shape {
  const c = lastAxis('swiglu', x.shape);
  expect(c % 2 === 0, 'swiglu', () => `${show(x.shape)} has no two halves`);
  return [...x.shape.slice(0, -1), c / 2];
}

export function snakeShape(x: Tensor, alpha: Tensor, beta: Tensor): Shape {
  const c = lastAxis('snake', x.shape);
  expectShape('snake', 'alpha', alpha, [c]);
  expectShape('snake', 'beta', beta, [c]);
  return x.shape;
}

export function meanShape(x: Tensor): Shape {
  expect(lastAxis('mean', x.shape) > 0, 'mean', () => `${show(x.shape)} has no elements`);
  return x.shape.slice(0, -1);
}

export function checkCombination(dst: Tensor, { terms, coefficients, step }: Combination): void {
  for (const term of terms) {
    expectShape('linearCombination', 'term', term, dst.shape);
    expect(term.dtype === dst.dtype, 'linearCombination', () => `${term.dtype} into ${dst.dtype}`);
  }
  expect(terms.length > 0, 'linearCombination', () => 'no terms');
  expectShape('linearCombination', 'coefficients', coefficients, [coefficients.shape[0] ?? 0, terms.length]);
  expectShape('linearCombination', 'step', step, [1]);
  expect(
    coefficients.dtype === 'f32' && step.dtype === 'i32',
    'linearCombination',
    () => `coefficients ${coefficients.dtype}, step ${step.dtype}`,
  );
}

export function ropeShape(x: Tensor, cos: Tensor, sin: Tensor): Shape {
  const [rows, , d] = x.shape;
  expect(
    x.shape.length === 3 && rows !== undefined && d !== undefined && d % 2 === 0,
    'rope',
    () => `x ${show(x.shape)}`,
  );
  expectShape('rope', 'cos', cos, [rows, d]);
  expectShape('rope', 'sin', sin, [rows, d]);
  return x.shape;
}

/** Returns the shape of q. */
export function headsRopeShape(qkv: Tensor, options: HeadOptions, into: KvRows): Shape {
  const { heads, kvHeads, headDim } = options;
  const rows = axisSize('headsRope', qkv.shape, 0);
  expectShape('headsRope', 'qkv', qkv, [rows, (heads + 2 * kvHeads) * headDim]);
  if (options.qNorm) expectShape('headsRope', 'qNorm', options.qNorm, [headDim]);
  if (options.kNorm) expectShape('headsRope', 'kNorm', options.kNorm, [headDim]);
  expectShape('headsRope', 'cos', options.cos, [rows, headDim]);
  expectShape('headsRope', 'sin', options.sin, [rows, headDim]);
  expectShape('headsRope', 'k', into.k, [rows, kvHeads, headDim]);
  expectShape('headsRope', 'v', into.v, [rows, kvHeads, headDim]);
  return [rows, heads, headDim];
}

export function embedShape(table: Weight | Tensor, ids: Tensor): Shape {
  expect(table.shape.length === 2, 'embed', () => `table ${show(table.shape)}`);
  expect(ids.shape.length === 1 && ids.dtype === 'i32', 'embed', () => `ids ${ids.dtype} ${show(ids.shape)}`);
  return [axisSize('embed', ids.shape, 0), axisSize('embed', table.shape, 1)];
}

export function addRowsShape(x: Tensor, row: Tensor, mask: Tensor): Shape {
  const [rows, c] = x.shape;
  expect(x.shape.length === 2 && rows !== undefined && c !== undefined, 'addRows', () => `x ${show(x.shape)}`);
  expect(
    elementCount(row.shape) === c && row.shape.at(-1) === c,
    'addRows',
    () => `row ${show(row.shape)} on ${show(x.shape)}`,
  );
  expectShape('addRows', 'mask', mask, [rows]);
  return x.shape;
}

export function upsampleShape(x: Tensor, factor: number): Shape {
  const [t, h, w, c] = x.shape;
  expect(
    x.shape.length === 4 && Number.isInteger(factor) && factor > 0,
    'upsampleNearest',
    () => `${show(x.shape)} by ${factor}`,
  );
  return [t ?? 0, (h ?? 0) * factor, (w ?? 0) * factor, c ?? 0];
}
