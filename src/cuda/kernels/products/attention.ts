// Launches `attention`, the one-pass kernel for bfloat16.
import type { Runtime } from '../../runtime/runtime.js';
import type { KernelSource } from '../sources.js';

const attentionKernel: KernelSource = { file: 'products/attention', entry: 'attention', signature: 'ppiifs' };

/** Largest head that the kernel holds in registers. */
export const largestHead = 256;

/** A key segment: addresses of `[rows, groups, d]`, and of its true length (0: all rows count). */
export interface SegmentOperand {
  readonly k: number;
  readonly v: number;
  readonly length: number;
  readonly rows: number;
  readonly groups: number;
}

export interface AttentionOperands {
  readonly out: number;
  readonly q: number; // [rows, heads, d]
  readonly rows: number;
  readonly heads: number;
  readonly d: number;
  readonly segments: readonly SegmentOperand[];
  readonly causal: boolean;
  readonly scale: number;
}

/** Tiles by head size: what registers and 99 KiB of shared memory hold. */
export function attentionTiles(d: number): {
  readonly padded: number;
  readonly warps: number;
  readonly keys: number;
  readonly stages: number;
  readonly shared: number;
} {
  const padded = Math.ceil(d / 16) * 16;
  const [warps, keys, stages] = padded <= 64 ? [8, 64, 2] : padded <= 128 ? [8, 32, 2] : [4, 32, 1];
  const shared = (warps * 16 + 2 * stages * keys) * (padded + 8) * 2;
  return { padded, warps, keys, stages, shared };
}

export function launchAttention(r: Runtime, operands: AttentionOperands): void {
  const { out, q, rows, heads, d, segments, causal, scale } = operands;
  if (rows === 0) return;
  const { padded, warps, keys, stages, shared } = attentionTiles(d);
  const count = segments.length;
  const struct = new DataView(new ArrayBuffer(count * 32));
  for (const [i, segment] of segments.entries()) {
    struct.setBigUint64(8 * i, BigInt(segment.k), true);
    struct.setBigUint64(8 * (count + i), BigInt(segment.v), true);
    struct.setBigUint64(8 * (2 * count + i), BigInt(segment.length), true);
    struct.setInt32(24 * count + 4 * i, segment.rows, true);
    struct.setInt32(28 * count + 4 * i, segment.groups, true);
  }
  r.run(
    attentionKernel,
    {
      D: d,
      DP: padded,
      WARPS: warps,
      BN: keys,
      STAGES: stages,
      SEGMENTS: count,
      CAUSAL: causal ? 1 : 0,
    },
    {
      grid: [Math.ceil(rows / (warps * 16)), heads],
      block: warps * 32,
      shared,
      args: [out, q, rows, heads, scale],
      struct: new Uint8Array(struct.buffer),
    },
  );
}
