// Launches `softmax_rows`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { blockThreads, typeNames } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const softmaxKernel: KernelSource = { file: 'rows/softmax-rows', entry: 'softmax_rows', signature: 'ppiiifs' };

export interface SoftmaxRows {
  readonly scores: CudaTensor; // [heads, queries, columns], float32
  readonly to: CudaTensor; // the same shape; may be `scores` itself
  /** Columns of each key segment, in order, and where its true length lies (0: all count). */
  readonly segments: readonly { readonly rows: number; readonly length: number }[];
  readonly queries: number;
  /** Sequence position of the first query row. */
  readonly firstQuery: number;
  readonly causal: boolean;
  /** Positive. */
  readonly scale: number;
}

export function softmaxRows(
  r: Runtime,
  { scores, to, segments, queries, firstQuery, causal, scale }: SoftmaxRows,
): void {
  const columns = scores.shape.at(-1) ?? 1;
  const struct = new DataView(new ArrayBuffer(Math.ceil((12 * segments.length + 4) / 8) * 8));
  let start = 0;
  for (const [i, { rows, length }] of segments.entries()) {
    struct.setBigUint64(8 * i, BigInt(length), true);
    struct.setInt32(8 * segments.length + 4 * i, start, true);
    start += rows;
  }
  struct.setInt32(12 * segments.length, start, true);
  r.run(
    softmaxKernel,
    { TYPE: typeNames[to.dtype], SEGMENTS: segments.length, CAUSAL: causal ? 1 : 0 },
    {
      grid: [scores.count / columns],
      block: blockThreads,
      args: [to.address, scores.address, columns, queries, firstQuery, scale],
      struct: new Uint8Array(struct.buffer),
    },
  );
}
