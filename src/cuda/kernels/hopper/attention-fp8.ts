// Launches attention with FP8 operands on Hopper: largest sizes per head, conversion, then `hopper_attention_fp8`.
import type { Runtime } from '../../runtime/runtime.js';
import type { AttentionOperands } from '../products/attention.js';
import type { KernelSource } from '../sources.js';
import { servesHopperAttention } from './attention.js';
import { convertRows, convertValues, type Heads, valueKeys } from './fp8-heads.js';
import { encodeTensorMap, tensorMapBytes } from './tensor-map.js';

const attention: KernelSource = { file: 'hopper/attention-fp8', entry: 'hopper_attention_fp8', signature: 'piiifs' };
/** As the kernel has them: head size, rows of a query block, rows of a key tile, stages. */
const [D, BM, BN, stages] = [128, 128, 192, 4];
const threads = 384;
const alignment = 1024;
const shared = D * (BM + 2 * stages * BN) + alignment;

/** Whether the kernel takes these operands on this GPU: only the last segment may be padded. */
export function servesFp8Attention(r: Runtime, operands: AttentionOperands): boolean {
  const { segments, causal } = operands;
  const isPacked = segments.slice(0, -1).every(({ length }) => length === 0);
  return !causal && isPacked && (segments[0]?.rows ?? 0) > 0 && servesHopperAttention(r, operands);
}

export function launchFp8Attention(r: Runtime, operands: AttentionOperands): void {
  const { out, q, rows, heads, segments, scale } = operands;
  const groups = segments[0]?.groups ?? 1;
  if (rows === 0) return;
  const keyRows = segments.reduce((sum, segment) => sum + segment.rows, 0);
  const pitch = Math.ceil(keyRows / valueKeys) * valueKeys;
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
    convertValues(r, values, v8.address, vMost, pitch);
    const maps = [
      encodeTensorMap(r.device.driver, { address: q8.address, size: [D, heads, rows], box: [D, 1, BM], fp8: true }),
      encodeTensorMap(r.device.driver, { address: k8.address, size: [D, groups, keyRows], box: [D, 1, BN], fp8: true }),
      encodeTensorMap(r.device.driver, {
        address: v8.address,
        size: [pitch, D, groups],
        box: [valueKeys, D, 1],
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
