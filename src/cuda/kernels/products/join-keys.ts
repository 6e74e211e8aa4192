// Launches `join_keys`.
import type { Runtime } from '../../runtime/runtime.js';
import { flatLaunch } from '../elementwise.js';
import type { KernelSource } from '../sources.js';
import type { SegmentOperand } from './attention.js';

const joinKeysKernel: KernelSource = { file: 'products/join-keys', entry: 'join_keys', signature: 'ppps' };

/** Bytes that a thread moves of each buffer. */
const unitBytes = 16;

export interface JoinedKeys {
  readonly k: number; // [keys, groups, d]
  readonly v: number;
  /** Two int32: queries, keys that count. */
  readonly lengths: number;
  /** Those without a length first; only the last may have one. Bytes of a row divide by 16. */
  readonly segments: readonly SegmentOperand[];
  readonly rowBytes: number;
  readonly queries: number;
}

export function joinKeys(r: Runtime, { k, v, lengths, segments, rowBytes, queries }: JoinedKeys): void {
  const count = segments.length;
  const struct = new DataView(new ArrayBuffer(24 * count + 24));
  const put = (slot: number, value: number) => struct.setBigInt64(8 * slot, BigInt(value), true);
  let units = 0;
  let before = 0;
  for (const [i, segment] of segments.entries()) {
    const own = (segment.rows * rowBytes) / unitBytes;
    put(i, segment.k);
    put(count + i, segment.v);
    put(2 * count + i, own);
    units += own;
    if (i < count - 1) before += segment.rows;
  }
  put(3 * count, segments.at(-1)?.length ?? 0);
  put(3 * count + 1, rowBytes / unitBytes);
  struct.setInt32(24 * count + 16, queries, true);
  struct.setInt32(24 * count + 20, before, true);
  r.run(
    joinKeysKernel,
    { SEGMENTS: count },
    {
      ...flatLaunch(units),
      args: [k, v, lengths],
      struct: new Uint8Array(struct.buffer),
    },
  );
}
