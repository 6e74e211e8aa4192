// Packing weights for the products, and matrix products with packed weights.
import { scratchBytes } from '../threads/thread.js';
import { defineJob } from './job.js';

/** Rows that one tile packs: one panel's worth. */
const packRows = 8;

/** Tiles of packing rows `n0..n0 + rows`. */
export function packTiles(n0: number, rows: number): number {
  return Math.ceil((n0 + rows) / packRows) - Math.floor(n0 / packRows);
}

/**
 * Stored rows `n0..n0 + rows` of `[c, taps]` elements at `from`, laid out at `to` as rows or panels of `[taps, c]` float32.
 * `scales` points at one factor per row, or is 0. Each group of `groupRows` rows starts a new panel.
 */
export const packJob = defineJob(
  ['from', 'to', 'n0', 'rows', 'c', 'taps', 'dtype', 'elementBytes', 'scales', 'groupRows'],
  ({ kernels, products, scratch, floats }, job, tile) => {
    const { from, to, n0, rows, c, taps, dtype, elementBytes, scales, groupRows } = job;
    const k = c * taps;
    const base = (Math.floor(n0 / packRows) + tile) * packRows;
    const first = Math.max(n0, base);
    const last = Math.min(n0 + rows, base + packRows);
    const source = (n: number) => from + (n - n0) * k * elementBytes;
    const factor = (n: number) => (scales ? floats(scales + (n - n0) * 4) : 1);
    if (products.layout === 'rows') {
      for (let n = first; n < last; n++) {
        const row = taps === 1 ? to + n * k * 4 : scratch;
        kernels.widen(row, source(n), k, dtype, factor(n));
        if (taps > 1) kernels.scatterRow(to + n * k * 4, 4, scratch, c, taps);
      }
      return;
    }
    const aligned = groupRows % packRows === 0 || last <= groupRows;
    const whole = taps === 1 && last - first === packRows && aligned;
    if (whole && packRows * k * 4 <= scratchBytes) {
      for (let n = first; n < last; n++) kernels.widen(scratch + (n - first) * k * 4, source(n), k, dtype, factor(n));
      kernels.interleaveRows(to + first * k * 4, scratch, k * 4, packRows, k);
      return;
    }
    const padded = Math.ceil(groupRows / packRows) * packRows;
    for (let n = first; n < last; n++) {
      const at = Math.floor(n / groupRows) * padded + (n % groupRows);
      kernels.widen(scratch, source(n), k, dtype, factor(n));
      kernels.scatterRow(to + (at - (at % packRows)) * k * 4 + (at % packRows) * 4, 32, scratch, c, taps);
    }
  },
);

/** `out [m, n] = x [m, k] w^T + bias`, rows of `out` `stride` bytes apart. Tiles run down the rows first. */
export const matmulJob = defineJob(
  ['x', 'w', 'bias', 'out', 'stride', 'm', 'n', 'k'],
  ({ kernels, products }, { x, w, bias, out, stride, m, n, k }, tile) => {
    const size = products.tile;
    const down = Math.ceil(m / size.m);
    const m0 = (tile % down) * size.m;
    const n0 = Math.floor(tile / down) * size.n;
    const rows = Math.min(size.m, m - m0);
    const columns = Math.min(size.n, n - n0);
    const c = out + m0 * stride + n0 * 4;
    if (bias) kernels.fillRows(c, stride, bias + n0 * 4, columns, rows);
    for (let k0 = 0; k0 < k; k0 += size.k) {
      const depth = Math.min(size.k, k - k0);
      const product = { m: rows, n: columns, k: depth, a: x + (m0 * k + k0) * 4, lda: k * 4, c, ldc: stride };
      products.withWeight({ ...product, add: bias !== 0 || k0 > 0 }, { address: w, n0, k0, k });
    }
  },
);
