// Launches what makes FP8 heads of 128 for attention: the largest size of each head, rows, and values transposed.
import type { Runtime } from '../../runtime/runtime.js';
import type { SegmentOperand } from '../products/attention.js';
import type { KernelSource } from '../sources.js';

const most: KernelSource = { file: 'hopper/fp8-heads', entry: 'fp8_most', signature: 'pis' };
const toRows: KernelSource = { file: 'hopper/fp8-heads', entry: 'fp8_rows', signature: 'ppis' };
const toValues: KernelSource = { file: 'hopper/fp8-heads', entry: 'fp8_values', signature: 'ppis' };

const headSize = 128;
/** Keys that one block transposes. */
export const valueKeys = 64;

/** Rows of heads, one or more segments as if concatenated. */
export interface Heads {
  readonly segments: readonly Pick<SegmentOperand, 'rows' | 'length'>[];
  readonly addresses: readonly number[];
  readonly heads: number;
  readonly rows: number;
}

/** FP8 `[rows, heads, 128]` at `out`. `sizes` holds zeros and gets the largest size of each head. */
export function convertRows(r: Runtime, heads: Heads, out: number, sizes: number): void {
  measure(r, heads, sizes);
  r.run(toRows, definesOf(heads), {
    grid: [Math.ceil((heads.rows * heads.heads * headSize) / 16 / 256)],
    block: 256,
    args: [out, sizes, heads.rows],
    struct: packSource(heads),
  });
}

/** FP8 `[heads, 128, pitch]` at `out`, keys in the order that the kernel's weights are held in; `pitch` is a multiple of `valueKeys`. */
export function convertValues(r: Runtime, heads: Heads, out: number, sizes: number, pitch: number): void {
  measure(r, heads, sizes);
  r.run(toValues, definesOf(heads), {
    grid: [pitch / valueKeys, heads.heads],
    block: 256,
    args: [out, sizes, pitch],
    struct: packSource(heads),
  });
}

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
