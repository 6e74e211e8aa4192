// Matrix products, attention and convolutions of the CPU device: arguments checked, weights packed, tiles counted.
import * as guards from '../../backend/guards.js';
import {
  type Backend,
  type ConvOptions,
  elementCount,
  type KeySegment,
  ShapeError,
  type Tensor,
} from '../../backend/index.js';
import type { CpuDevice } from '../cpu-device.js';
import { type CpuTensor, own } from '../storage/cpu-tensor.js';
import { type CpuWeight, ownWeight } from '../storage/cpu-weight.js';
import { packShape } from '../storage/weight-store.js';
import { scratchBytes } from '../threads/thread.js';
import { maxHeadDim, maxSegments, queryBlock } from '../tiles/attention.js';
import { asFloats, inDtype } from './convert.js';

type ProductOps = Pick<Backend, 'matmul' | 'attention' | 'conv' | 'convTranspose'>;

const addressOr0 = (d: CpuDevice, x: Tensor | undefined) => (x ? asFloats(d, x).address : 0);

export function productOps(d: CpuDevice): ProductOps {
  return {
    matmul: (rows, w, options) => {
      const shape = guards.matmulShape(rows, w, options?.bias);
      const x = guards.plainRows('matmul', rows);
      const out = d.scopes.make(shape, 'f32');
      multiply(d, { x: asFloats(d, x), w: ownWeight(w), bias: addressOr0(d, options?.bias), out });
      return inDtype(d, out, x.dtype);
    },
    attention: (q, segments, options) => {
      guards.attentionKeys(q, segments, options?.causal ?? false);
      const [rows, heads, dim] = q.shape as readonly [number, number, number];
      if (dim > maxHeadDim || segments.length > maxSegments)
        throw new ShapeError(
          'attention',
          `heads of ${dim} (at most ${maxHeadDim}), ${segments.length} segments (at most ${maxSegments})`,
        );
      const out = d.scopes.make(q.shape, 'f32');
      const job = {
        q: asFloats(d, q).address,
        out: out.address,
        rows,
        heads,
        d: dim,
        scale: options?.scale ?? 1 / Math.sqrt(dim),
        causal: options?.causal ? 1 : 0,
        segments: segments.length,
      };
      const extra = segments.flatMap((segment) => segmentNumbers(d, segment));
      d.pool.run('attention', job, heads * Math.ceil(rows / queryBlock), extra);
      return inDtype(d, out, q.dtype);
    },
    conv: (x, w, options = {}) => {
      const shape = guards.convShape(x, w, options);
      const out = d.scopes.make(shape, 'f32');
      const weight = ownWeight(w);
      const task = { x: asFloats(d, x), w: weight, bias: addressOr0(d, options.bias), out };
      if (isPointwise(weight, options)) multiply(d, task);
      else convolve(d, task, options);
      return inDtype(d, out, x.dtype);
    },
    convTranspose: (x, w, options) => {
      const shape = guards.convTransposeShape(x, w, options);
      const out = d.scopes.make(shape, 'f32');
      const [c = 0, outputs = 0, k = 0] = w.shape;
      const { stride, padding } = options;
      const [length = 0] = shape;
      const [rows = 0] = x.shape;
      // As many output rows as the rows of products below them fit into scratch.
      const fitting = Math.floor(scratchBytes / (k * outputs * 4)) - Math.ceil(k / stride) - 1;
      if (fitting < 1) throw new ShapeError('convTranspose', `w [${w.shape.join(', ')}] is too large for this device`);
      const block = Math.min(64, fitting) * stride;
      const bias = addressOr0(d, options.bias);
      const from = asFloats(d, x).address;
      const weight = ownWeight(w);
      d.weights.withPacked(
        weight,
        packShape(weight),
        (address) => {
          const job = {
            x: from,
            weight: address,
            bias,
            out: out.address,
            rows,
            c,
            outputs,
            k,
            stride,
            padding,
            length,
            block,
          };
          d.pool.run('convTranspose', job, Math.ceil(length / block));
        },
        true,
      );
      return inDtype(d, out, x.dtype);
    },
  };
}

interface Task {
  readonly x: CpuTensor;
  readonly w: CpuWeight;
  readonly bias: number;
  readonly out: CpuTensor;
}

/** `out = x w^T + bias`; `w` is a matrix, or a convolution with a kernel of one. */
function multiply(d: CpuDevice, { x, w, bias, out }: Task): void {
  const shape = packShape(w);
  const { rows: n, c: k } = shape;
  if (out.count === 0) return;
  const m = out.count / n;
  if (k === 0) throw new ShapeError('matmul', `x [${x.shape.join(', ')}] has empty rows`);
  const { tile } = d.pool.thread.products;
  d.weights.withPacked(w, shape, (address, n0, n1) => {
    const job = {
      x: x.address,
      w: address,
      bias: bias && bias + n0 * 4,
      out: out.address + n0 * 4,
      stride: n * 4,
      m,
      n: n1 - n0,
      k,
    };
    d.pool.run('matmul', job, Math.ceil(m / tile.m) * Math.ceil((n1 - n0) / tile.n));
  });
}

function segmentNumbers(d: CpuDevice, { k, v, length }: KeySegment): number[] {
  const [rows = 0, groups = 0] = k.shape;
  const counted = length ? new Int32Array(d.memory.wasm.buffer, own(length).address, 1)[0] : rows;
  const limited = Math.max(0, Math.min(rows, counted ?? rows));
  return [asFloats(d, k).address, asFloats(d, v).address, groups, limited];
}

function isPointwise({ shape }: CpuWeight, { stride, padding, groups }: ConvOptions): boolean {
  return (
    elementCount(shape.slice(2)) === 1 &&
    (groups ?? 1) === 1 &&
    (stride ?? []).every((step) => step === 1) &&
    (padding ?? []).every(([before, after]) => before === 0 && after === 0)
  );
}

function convolve(d: CpuDevice, { x, w, bias, out }: Task, options: ConvOptions): void {
  const groups = options.groups ?? 1;
  const shape = packShape(w, groups);
  const [t, h, width, channels] = x.shape as readonly [number, number, number, number];
  const [ot, oh, ow] = out.shape as readonly [number, number, number];
  const [, c, , kh, kw] = w.shape as readonly [number, number, number, number, number];
  const [st, sh, sw] = options.stride ?? [1, 1, 1];
  const [dt, dh, dw] = options.dilation ?? [1, 1, 1];
  const [pt, ph, pw] = [0, 1, 2].map((i) => options.padding?.[i]?.[0] ?? 0) as [number, number, number];
  const { taps } = shape;
  const { m, k } = d.pool.thread.products.tile;
  let pixelBlock = m;
  while (pixelBlock > 8 && pixelBlock * c * 4 > scratchBytes) pixelBlock /= 2;
  const fitting = Math.floor(scratchBytes / (pixelBlock * c * 4));
  if (fitting < 1) throw new ShapeError('conv', `${c} channels per group are too many for this device`);
  const wanted = Math.max(1, Math.ceil(Math.min(k, taps * c) / c));
  // Whole rows of taps where they fit: those are gathered in one piece.
  const rows = Math.min(Math.ceil(wanted / kw), Math.floor(fitting / kw)) * kw;
  const tapBlock = Math.min(rows || Math.min(fitting, wanted), taps);
  const pixels = ot * oh * ow;
  d.weights.withPacked(
    w,
    shape,
    (weight) => {
      const job = {
        ...{ t, h, w: width, pixel: channels * 4, oh, ow, kh, kw, st, sh, sw, dt, dh, dw, pt, ph, pw },
        ...{ x: x.address, weight, bias, out: out.address, c, outputs: shape.rows / groups, groups },
        ...{ groupBytes: d.weights.groupBytes(shape), taps, pixels, pixelBlock, tapBlock },
      };
      d.pool.run('conv', job, Math.ceil(pixels / pixelBlock));
    },
    true,
  );
}
