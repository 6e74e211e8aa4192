// Attention: one tile is one head and a block of queries; blocks of keys go by with a running softmax.
import type { Thread } from '../threads/thread.js';
import { defineJob } from './job.js';

/** Queries of a tile. */
export const queryBlock = 64;
const keyBlock = 256;
/** Segments that fit on the board. */
export const maxSegments = 32;
/** Largest head size whose blocks fit into a thread's scratch. */
export const maxHeadDim = 2048;

const fields = ['q', 'out', 'rows', 'heads', 'd', 'scale', 'causal', 'segments'] as const;

/** Numbers of one key segment, behind the named ones: k, v, groups, rows that count. */
const segmentNumbers = 4;

/** `q` and `out` are `[rows, heads, d]`. Tiles run over the query blocks of a head first. */
export const attentionJob = defineJob(fields, (thread, job, tile) => {
  const { args, kernels, scratch } = thread;
  const { q, out, rows, heads, d, scale, causal, segments } = job;
  const blocks = Math.ceil(rows / queryBlock);
  const head = Math.floor(tile / blocks);
  const first = (tile % blocks) * queryBlock;
  const count = Math.min(queryBlock, rows - first);
  const at = (first * heads + head) * d * 4;
  const wide = Math.ceil(d / 8) * 8;
  const block: QueryBlock = {
    q: q + at,
    stride: heads * d * 4,
    count,
    d,
    scale,
    keys: scratch,
    scores: scratch + keyBlock * wide * 4,
    sums: scratch + keyBlock * (wide + queryBlock) * 4,
    state: scratch + (keyBlock * (wide + queryBlock) + queryBlock * d) * 4,
  };
  let begun = false;
  for (let s = 0; s < segments; s++) {
    const from = fields.length + s * segmentNumbers;
    const groups = args[from + 2] as number;
    const counted = args[from + 3] as number;
    const length = causal ? Math.min(counted, first + count) : counted;
    const stride = groups * d * 4;
    const offset = Math.floor((head * groups) / heads) * d * 4;
    for (let l = 0; l < length; l += keyBlock) {
      const keys = Math.min(keyBlock, length - l);
      const k = (args[from] as number) + offset + l * stride;
      const v = (args[from + 1] as number) + offset + l * stride;
      // Without an order every column is seen; with one, row i sees keys up to its own position.
      const limit = causal ? first + 1 - l : keys;
      attendBlock(thread, block, { k, v, stride, keys, limit: causal ? Math.min(limit, keys) : limit, begun });
      begun = true;
    }
  }
  if (begun) kernels.divideRows(out + at, block.stride, block.sums, count, d, block.state);
  else kernels.fillRows(out + at, block.stride, 0, d, count);
});

interface QueryBlock {
  readonly q: number;
  readonly stride: number;
  readonly count: number;
  readonly d: number;
  readonly scale: number;
  readonly keys: number;
  readonly scores: number;
  readonly sums: number;
  readonly state: number;
}

interface KeyBlock {
  readonly k: number;
  readonly v: number;
  readonly stride: number;
  readonly keys: number;
  readonly limit: number;
  readonly begun: boolean;
}

function attendBlock({ kernels, products }: Thread, block: QueryBlock, key: KeyBlock): void {
  const { q, stride, count, d, scale, keys: packed, scores, sums, state } = block;
  const { k, v, keys, limit, begun } = key;
  const ldc = keyBlock * 4;
  const scored = { m: count, n: keys, k: d, a: q, lda: stride, c: scores, ldc, add: false };
  products.withRows(scored, k, key.stride, packed);
  kernels.softmaxBlock(scores, ldc, count, keys, limit, scale, state, sums, d, !begun);
  const summed = { m: count, n: d, k: keys, a: scores, lda: ldc, c: sums, ldc: d * 4, add: begun };
  products.withColumns(summed, v, key.stride, packed);
}
