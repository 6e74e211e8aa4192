// Launches `hopper_attention`, the kernel for bfloat16 heads of 128 on compute capability 9.0.
import type { Driver } from '../../ffi/driver.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { AttentionOperands } from '../products/attention.js';
import type { KernelSource } from '../sources.js';
import { encodeTensorMap, tensorMapBytes } from './tensor-map.js';

const hopperAttention: KernelSource = { file: 'hopper/attention', entry: 'hopper_attention', signature: 'piiifs' };

/** As the kernel has them: head size, rows of a query block, rows of a key tile, stages. */
const [D, BM, BN, stages] = [128, 128, 176, 2];
const halfHead = D / 2;
const threads = 384;
const alignment = 1024;
const shared = 2 * D * (BM + 2 * stages * BN) + alignment;
const mostSegments = 4;

/** Whether the kernel takes these operands on this GPU: copies by the copy engine want rows that start at multiples of 16 bytes. */
export function servesHopperAttention(r: Runtime, { d, q, heads, segments }: AttentionOperands): boolean {
  const { major, minor } = r.device.capability;
  if (major !== 9 || minor !== 0 || d !== D || q % 16 !== 0) return false;
  const groups = segments[0]?.groups ?? 0;
  return (
    segments.length > 0 &&
    segments.length <= mostSegments &&
    heads % groups === 0 &&
    segments.every((segment) => segment.groups === groups && segment.k % 16 === 0 && segment.v % 16 === 0)
  );
}

export function launchHopperAttention(r: Runtime, operands: AttentionOperands): void {
  const { out, q, rows, heads, segments, causal, scale } = operands;
  const groups = segments[0]?.groups ?? 1;
  if (rows === 0) return;
  const blocks = Math.ceil(rows / BM) * heads;
  r.run(
    hopperAttention,
    { SEGMENTS: segments.length, CAUSAL: causal ? 1 : 0 },
    {
      grid: [Math.min(blocks, r.device.multiprocessors)],
      block: threads,
      shared,
      args: [out, rows, heads, groups, scale],
      struct: packOperands(r.device.driver, q, operands, groups),
    },
  );
}

/** The kernel's `Operands`: tensor maps of the queries, of all keys and of all values; lengths; rows. */
function packOperands(
  driver: Driver,
  q: number,
  { rows, heads, segments }: AttentionOperands,
  groups: number,
): Uint8Array {
  const count = segments.length;
  const maps = tensorMapBytes * (1 + 2 * count);
  const struct = new Uint8Array(Math.ceil((maps + 12 * count) / 64) * 64);
  const place = (index: number, address: number, rowCount: number, headCount: number, box: number) => {
    const map = encodeTensorMap(driver, {
      address,
      size: [D, headCount, rowCount],
      box: [halfHead, 1, box],
    });
    struct.set(map, index * tensorMapBytes);
  };
  place(0, q, rows, heads, BM);
  const view = new DataView(struct.buffer);
  for (const [i, segment] of segments.entries()) {
    place(1 + i, segment.k, segment.rows, groups, BN);
    place(1 + count + i, segment.v, segment.rows, groups, BN);
    view.setBigUint64(maps + 8 * i, BigInt(segment.length), true);
    view.setInt32(maps + 8 * count + 4 * i, segment.rows, true);
  }
  return struct;
}
