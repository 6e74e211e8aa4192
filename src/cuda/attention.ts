// Attention for bfloat16 in one pass over the keys, by our Hopper kernel, cuDNN or our plain kernel; wider heads that cuDNN does not
// serve, and float32, by products and a softmax between.

import * as guards from '../backend/guards.js';
import { type AttentionOptions, type KeySegment, ShapeError, type Tensor } from '../backend/index.js';
import { attendByCudnn } from './cudnn/attend.js';
import { describeAttention } from './cudnn/kernel-choices.js';
import { floatType, type Gemm } from './gemm.js';
import { launchHopperAttention, servesHopperAttention } from './kernels/hopper/attention.js';
import { launchFp8Attention, servesFp8Attention } from './kernels/hopper/attention-fp8.js';
import { castInto } from './kernels/layout/cast.js';
import { copyRows } from './kernels/layout/copy-rows.js';
import { type AttentionOperands, largestHead, launchAttention } from './kernels/products/attention.js';
import { softmaxRows } from './kernels/rows/softmax-rows.js';
import type { Runtime } from './runtime/runtime.js';
import { type CudaTensor, own } from './runtime/tensor.js';

/** Scores of float32 held at once by the products, bytes. */
const scoreBytes = 256 << 20;

interface Segment {
  readonly k: CudaTensor; // [L, G, d]
  readonly v: CudaTensor;
  readonly rows: number;
  readonly groups: number;
  /** Address of the true length, 0 where all rows count. */
  readonly length: number;
}

/** `q [S, H, d]` over the segments. Rows without any key to see become zero. */
export function attention(
  r: Runtime,
  gemm: Gemm,
  q: Tensor,
  segments: readonly KeySegment[],
  { causal = false, scale }: AttentionOptions,
): CudaTensor {
  guards.attentionKeys(q, segments, causal);
  const [rows = 0, heads = 1, d = 1] = q.shape;
  const query = own(q);
  const out = r.tensors.make(q.shape, q.dtype);
  const factor = scale ?? 1 / Math.sqrt(d);
  const used = segments.filter(({ k }) => (k.shape[0] ?? 0) > 0).map((segment) => ownSegment(query, segment));
  if (used.length === 0 || out.count === 0) {
    r.stream.fill(out.address, 0, out.byteLength);
    return out;
  }
  if (q.dtype === 'bf16') {
    const operands = used.map(({ k, v, rows: count, groups, length }) => ({
      k: k.address,
      v: v.address,
      rows: count,
      groups,
      length,
    }));
    const [from, to] = [query.address, out.address];
    const whole = { out: to, q: from, rows, heads, d, segments: operands, causal, scale: factor };
    const kernel = attendInOnePass(r, whole);
    r.choices.note('attention', describeAttention(whole), kernel ?? 'products');
    if (kernel) return out;
  }
  r.tensors.run(() => {
    const isAligned = d % 8 === 0 && used.every(({ rows: count }) => count % 8 === 0);
    const wide = isAligned ? { query, segments: used } : widen(r, query, used);
    const sums = wide.query === query ? out : r.tensors.make(q.shape, 'f32');
    attendByProducts(r, gemm, { ...wide, out: sums, causal, scale: factor });
    if (sums !== out) castInto(r, out, sums);
    return null;
  });
  return out;
}

/** Enqueues the kernel that serves; its name, or null where none does. */
function attendInOnePass(r: Runtime, operands: AttentionOperands): string | null {
  if (r.fp8Attention && servesFp8Attention(r, operands)) {
    launchFp8Attention(r, operands);
    return 'own kernel for Hopper, FP8';
  }
  if (r.hopper && servesHopperAttention(r, operands)) {
    launchHopperAttention(r, operands);
    return 'own kernel for Hopper';
  }
  const engine = attendByCudnn(r, operands);
  if (engine || operands.d > largestHead) return engine;
  launchAttention(r, operands);
  return 'own kernel';
}

/** The operands in float32, whose products take any size. */
function widen(r: Runtime, query: CudaTensor, segments: readonly Segment[]): Pick<ByProducts, 'query' | 'segments'> {
  const toFloat = (x: CudaTensor) => {
    if (x.dtype === 'f32') return x;
    const wide = r.tensors.make(x.shape, 'f32');
    castInto(r, wide, x);
    return wide;
  };
  return {
    query: toFloat(query),
    segments: segments.map((segment) => ({ ...segment, k: toFloat(segment.k), v: toFloat(segment.v) })),
  };
}

function ownSegment(query: CudaTensor, { k, v, length }: KeySegment): Segment {
  if (k.dtype !== query.dtype || v.dtype !== query.dtype)
    throw new ShapeError('attention', `q is ${query.dtype}, k ${k.dtype}, v ${v.dtype}`);
  return {
    k: own(k),
    v: own(v),
    rows: k.shape[0] ?? 0,
    groups: k.shape[1] ?? 1,
    length: length ? own(length).address : 0,
  };
}

interface ByProducts {
  readonly query: CudaTensor;
  readonly out: CudaTensor;
  readonly segments: readonly Segment[];
  readonly causal: boolean;
  readonly scale: number;
}

function attendByProducts(r: Runtime, gemm: Gemm, work: ByProducts): void {
  const [rows = 0, heads = 1] = work.query.shape;
  const columns = work.segments.reduce((sum, segment) => sum + segment.rows, 0);
  // Heads that share keys in every segment go together.
  const together = Math.min(...work.segments.map(({ groups }) => heads / groups));
  const shares = work.segments.every(({ groups }) => (heads / groups) % together === 0) ? together : 1;
  const step = Math.max(1, Math.min(rows, Math.floor(scoreBytes / (4 * columns * shares))));
  for (let head = 0; head < heads; head += shares)
    for (let first = 0; first < rows; first += step) {
      r.tensors.run(() => {
        attendBlock(r, gemm, work, { head, heads: shares, first, rows: Math.min(step, rows - first), columns });
        return null;
      });
    }
}

interface ScoreBlock {
  readonly head: number;
  readonly heads: number;
  readonly first: number;
  readonly rows: number;
  readonly columns: number;
}

function attendBlock(r: Runtime, gemm: Gemm, work: ByProducts, block: ScoreBlock): void {
  const { query, out, segments, causal, scale } = work;
  const [, allHeads = 1, d = 1] = query.shape;
  const { head, heads, first, rows, columns } = block;
  const dtype = floatType('attention', query.dtype);
  const bytes = dtype === 'f32' ? 4 : 2;
  const scores = r.tensors.make([heads, rows, columns], 'f32');
  const at = (first * allHeads + head) * d * bytes;
  const rowsOf = (address: number) => ({ address: address + at, dtype, pitch: allHeads * d, batchStride: d });
  const groupAt = ({ groups }: Segment) => Math.floor(head / (allHeads / groups)) * d * bytes;
  let start = 0;
  for (const segment of segments) {
    gemm.multiply({
      m: rows,
      n: segment.rows,
      k: d,
      x: rowsOf(query.address),
      w: { address: segment.k.address + groupAt(segment), dtype, pitch: segment.groups * d, batchStride: 0 },
      out: { address: scores.address + 4 * start, dtype: 'f32', pitch: columns, batchStride: rows * columns },
      batch: heads,
    });
    start += segment.rows;
  }
  const weights = dtype === 'f32' ? scores : r.tensors.make(scores.shape, dtype);
  softmaxRows(r, { scores, to: weights, segments, queries: rows, firstQuery: first, causal, scale });
  const sums = segments.length > 1 && dtype === 'bf16' ? r.tensors.make([rows, heads, d], 'f32') : null;
  start = 0;
  for (const segment of segments) {
    gemm.multiply({
      m: rows,
      n: d,
      k: segment.rows,
      x: { address: weights.address + bytes * start, dtype, pitch: columns, batchStride: rows * columns },
      w: { address: segment.v.address + groupAt(segment), dtype, pitch: segment.groups * d, batchStride: 0 },
      out: sums
        ? { address: sums.address, dtype: 'f32', pitch: heads * d, batchStride: d }
        : { ...rowsOf(out.address) },
      wIsTransposed: true,
      batch: heads,
      accumulate: start > 0,
    });
    start += segment.rows;
  }
  if (sums) scatterRows(r, sums, out, { head, first });
}

/** Rows summed in float32 to their places in the result. */
function scatterRows(
  r: Runtime,
  sums: CudaTensor,
  out: CudaTensor,
  { head, first }: Pick<ScoreBlock, 'head' | 'first'>,
): void {
  const [rows = 0, heads = 1, d = 1] = sums.shape;
  const [, allHeads = 1] = out.shape;
  const narrow = r.tensors.make(sums.shape, out.dtype);
  castInto(r, narrow, sums);
  const bytes = heads * d * 2;
  copyRows(r, {
    to: out.address + (first * allHeads + head) * d * 2,
    toPitch: allHeads * d * 2,
    from: narrow.address,
    fromPitch: bytes,
    bytes,
    rows,
  });
}
