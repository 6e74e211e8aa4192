// Launches attention with FP8 operands on Hopper: largest sizes per head, conversion, then `hopper_attention_fp8`.
import type { Runtime } from '../../runtime/runtime.js';
import type { AttentionOperands, SegmentOperand } from '../products/attention.js';
import type { KernelSource } from '../sources.js';
import { servesHopperAttention } from './attention.js';
import { encodeTensorMap, tensorMapBytes } from './tensor-map.js';

const attention: KernelSource = { file: 'hopper/attention-fp8', entry: 'hopper_attention_fp8', signature: 'piiifs' };
const most: KernelSource = { file: 'hopper/fp8-heads', entry: 'fp8_most', signature: 'pis' };
const toRows: KernelSource = { file: 'hopper/fp8-heads', entry: 'fp8_rows', signature: 'ppis' };
const toValues: KernelSource = { file: 'hopper/fp8-heads', entry: 'fp8_values', signature: 'ppis' };

/** As the kernel has them: head size, rows of a query block, rows of a key tile, keys of a box of values, stages. */
const [D, BM, BN, boxKeys, stages] = [128, 128, 192, 64, 4];
const threads = 384;
const alignment = 1024;
const shared = D * (BM + 2 * stages * BN) + alignment;

/** Whether the kernel takes these operands on this GPU: only the last segment may be padded. */
export function servesFp8Attention(r: Runtime, operands: AttentionOperands): boolean {
  const { segments, causal } = operands;
  const isPacked = segments.slice(0, -1).every(({ length }) => length === 0);
  return !causal && isPacked && (segments[0]?.rows ?? 0) > 0 && servesHopperAttention(r, operands);
}

/** Rows of heads, one or more segments as if concatenated. */
interface Heads {
  readonly segments: readonly Pick<SegmentOperand, 'rows' | 'length'>[];
  readonly addresses: readonly number[];
  readonly heads: number;
  readonly rows: number;
}

export function launchFp8Attention(r: Runtime, operands: AttentionOperands): void {
  const { out, q, rows, heads, segments, scale } = operands;
  const groups = segments[0]?.groups ?? 1;
  if (rows === 0) return;
  const keyRows = segments.reduce((sum, segment) => sum + segment.rows, 0);
  const pitch = Math.ceil(keyRows / boxKeys) * boxKeys;
  const keys: Heads = { segments, addresses: segments.map(({ k }) => k), heads: groups, rows: keyRows };
  const values: Heads = { ...keys, addresses: segments.map(({ v }) => v) };
  const queries: Heads = { segments: [{ rows, length: 0 }], addresses: [q], heads, rows };
  r.tensors.run(() => {
    const sizes = r.tensors.make([heads + 2 * groups], 'f32');
    const [qMost, kMost, vMost] = [0, heads, heads + groups].map((at) => sizes.address + 4 * at) as [
      number,
      number,
      number,
    ];
    r.stream.fill(sizes.address, 0, sizes.byteLength);
    const q8 = r.tensors.make([rows, heads, D], 'u8');
    const k8 = r.tensors.make([keyRows, groups, D], 'u8');
    const v8 = r.tensors.make([groups, D, pitch], 'u8');
    convertRows(r, queries, q8.address, qMost);
    convertRows(r, keys, k8.address, kMost);
    measure(r, values, vMost);
    r.run(toValues, definesOf(values), {
      grid: [pitch / boxKeys, groups],
      block: 256,
      args: [v8.address, vMost, pitch],
      struct: packSource(values),
    });
    const maps = [
      encodeTensorMap(r.device.driver, { address: q8.address, size: [D, heads, rows], box: [D, 1, BM], fp8: true }),
      encodeTensorMap(r.device.driver, { address: k8.address, size: [D, groups, keyRows], box: [D, 1, BN], fp8: true }),
      encodeTensorMap(r.device.driver, {
        address: v8.address,
        size: [pitch, D, groups],
        box: [boxKeys, D, 1],
        fp8: true,
      }),
    ];
    const struct = new Uint8Array(Math.ceil((3 * tensorMapBytes + 40) / 64) * 64);
    for (const [i, map] of maps.entries()) struct.set(map, i * tensorMapBytes);
    const view = new DataView(struct.buffer, 3 * tensorMapBytes);
    const length = segments.at(-1)?.length ?? 0;
    const last = length === 0 ? 0 : (segments.at(-1)?.rows ?? 0);
    for (const [i, address] of [qMost, kMost, vMost, length].entries()) view.setBigUint64(8 * i, BigInt(address), true);
    view.setInt32(32, keyRows - last, true);
    view.setInt32(36, last, true);
    r.run(
      attention,
      {},
      {
        grid: [Math.min(Math.ceil(rows / BM) * heads, r.device.multiprocessors)],
        block: threads,
        shared,
        args: [out, rows, heads, groups, scale],
        struct,
      },
    );
    return null;
  });
}

function convertRows(r: Runtime, heads: Heads, out: number, sizes: number): void {
  measure(r, heads, sizes);
  r.run(toRows, definesOf(heads), {
    grid: [Math.ceil((heads.rows * heads.heads * D) / 16 / 256)],
    block: 256,
    args: [out, sizes, heads.rows],
    struct: packSource(heads),
  });
}

/** Largest size of each head, into memory that holds zeros. */
function measure(r: Runtime, heads: Heads, sizes: number): void {
  r.run(most, definesOf(heads), {
    grid: [Math.min(64, Math.ceil(heads.rows / 16)), heads.heads],
    block: 256,
    args: [sizes, heads.rows],
    struct: packSource(heads),
  });
}

const definesOf = ({ segments }: Heads) => ({ SEGMENTS: segments.length });

/** The kernels' `Source`. */
function packSource({ segments, addresses, heads }: Heads): Uint8Array {
  const count = segments.length;
  const struct = new Uint8Array(Math.ceil((8 * count + 8 + 4 * count + 4) / 8) * 8);
  const view = new DataView(struct.buffer);
  for (const [i, address] of addresses.entries()) view.setBigUint64(8 * i, BigInt(address), true);
  view.setBigUint64(8 * count, BigInt(segments.at(-1)?.length ?? 0), true);
  for (const [i, segment] of segments.entries()) view.setInt32(8 * count + 8 + 4 * i, segment.rows, true);
  view.setInt32(12 * count + 8, heads, true);
  return struct;
}
