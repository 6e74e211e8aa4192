// Launches attention with FP8 operands on Hopper: largest sizes per head, conversion, then `hopper_attention_fp8`.
import type { Driver } from '../../ffi/driver.js';
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

/** Why attention with heads of a size is never computed in FP8 on a GPU, and what to do; null where it is. */
export function whyNoFp8Attention(
  { device: { name, capability }, dtype }: Pick<Runtime, 'device' | 'dtype'>,
  headDim: number,
): string | null {
  const { major, minor } = capability;
  const needs = `attention in FP8 has a kernel for heads of ${D} in bf16 on compute capability 9.0 alone`;
  if (major !== 9 || minor !== 0) return `${needs}, and ${name} has ${major}.${minor}; leave it out`;
  if (headDim !== D) return `${needs}, and the checkpoint's heads have ${headDim}; leave it out`;
  return dtype === 'bf16' ? null : `${needs}, and networks compute in ${dtype}; leave it out, or compute in bf16`;
}

/** Where the FP8 operands and the largest sizes of their heads lie. */
interface Fp8Operands {
  readonly q: number; // [rows, heads, 128]
  readonly k: number; // [keyRows, groups, 128]
  readonly v: number; // [groups, 128, pitch]
  readonly qMost: number; // [heads]
  readonly kMost: number; // [groups]
  readonly vMost: number; // [groups]
}

/** Numbers of rows and heads, and the keys of a head of values, padded. */
interface Fp8Sizes {
  readonly rows: number;
  readonly heads: number;
  readonly groups: number;
  readonly keyRows: number;
  readonly pitch: number;
}

export function launchFp8Attention(r: Runtime, operands: AttentionOperands): void {
  const { out, rows, heads, segments, scale } = operands;
  if (rows === 0) return;
  const groups = segments[0]?.groups ?? 1;
  const keyRows = segments.reduce((sum, segment) => sum + segment.rows, 0);
  const sizes: Fp8Sizes = { rows, heads, groups, keyRows, pitch: Math.ceil(keyRows / valueKeys) * valueKeys };
  const last = segments.at(-1) ?? { rows: 0, length: 0 };
  r.tensors.run(() => {
    const converted = convertOperands(r, operands, sizes);
    const struct = packOperands(r.device.driver, converted, sizes, last);
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

/** Queries, keys and values in FP8, each head by its largest size, in temporaries. */
function convertOperands(r: Runtime, { q, segments }: AttentionOperands, sizes: Fp8Sizes): Fp8Operands {
  const { rows, heads, groups, keyRows, pitch } = sizes;
  const most = r.tensors.make([heads + 2 * groups], 'f32');
  const operands: Fp8Operands = {
    qMost: most.address,
    kMost: most.address + 4 * heads,
    vMost: most.address + 4 * (heads + groups),
    q: r.tensors.make([rows, heads, D], 'u8').address,
    k: r.tensors.make([keyRows, groups, D], 'u8').address,
    v: r.tensors.make([groups, D, pitch], 'u8').address,
  };
  r.stream.fill(most.address, 0, most.byteLength);
  const queries: Heads = { segments: [{ rows, length: 0 }], addresses: [q], heads, rows };
  const keys: Heads = { segments, addresses: segments.map(({ k }) => k), heads: groups, rows: keyRows };
  const values: Heads = { ...keys, addresses: segments.map(({ v }) => v) };
  convertRows(r, queries, operands.q, operands.qMost);
  convertRows(r, keys, operands.k, operands.kMost);
  convertValues(r, values, operands.v, operands.vMost, pitch);
  return operands;
}

/** The kernel's `Operands`: tensor maps, largest sizes, the last segment's length and the rows in front of it. */
function packOperands(
  driver: Driver,
  { q, k, v, qMost, kMost, vMost }: Fp8Operands,
  { rows, heads, groups, keyRows, pitch }: Fp8Sizes,
  last: { readonly rows: number; readonly length: number },
): Uint8Array {
  const maps = [
    encodeTensorMap(driver, { address: q, size: [D, heads, rows], box: [D, 1, BM], fp8: true }),
    encodeTensorMap(driver, { address: k, size: [D, groups, keyRows], box: [D, 1, BN], fp8: true }),
    encodeTensorMap(driver, { address: v, size: [pitch, D, groups], box: [valueKeys, D, 1], fp8: true }),
  ];
  const struct = new Uint8Array(Math.ceil((3 * tensorMapBytes + 40) / 64) * 64);
  for (const [i, map] of maps.entries()) struct.set(map, i * tensorMapBytes);
  const view = new DataView(struct.buffer, 3 * tensorMapBytes);
  const padded = last.length === 0 ? 0 : last.rows;
  for (const [i, address] of [qMost, kMost, vMost, last.length].entries())
    view.setBigUint64(8 * i, BigInt(address), true);
  view.setInt32(32, keyRows - padded, true);
  view.setInt32(36, padded, true);
  return struct;
}
