// Convolutions as products: the patches of a block of output pixels are gathered into scratch, some taps at a time.
import { defineJob } from './job.js';

// The geometry comes first: the kernel reads it from the board.
const geometry = ['t', 'h', 'w', 'pixel', 'oh', 'ow', 'kh', 'kw'] as const;
const steps = ['st', 'sh', 'sw', 'dt', 'dh', 'dw', 'pt', 'ph', 'pw'] as const;

/**
 * `out [pixels, groups * outputs]` from `x` with `c` channels per group. `pixelBlock` pixels a tile, `tapBlock` taps gathered at once;
 * `groupBytes` from one group's packed weight to the next.
 */
export const convJob = defineJob(
  [
    ...geometry,
    ...steps,
    'x',
    'weight',
    'bias',
    'out',
    'c',
    'outputs',
    'groups',
    'groupBytes',
    'taps',
    'pixels',
    'pixelBlock',
    'tapBlock',
  ],
  ({ kernels, products, scratch, argsAddress }, job, tile) => {
    const { x, weight, bias, out, c, outputs, groups, groupBytes, taps, pixels, pixelBlock, tapBlock } = job;
    const first = tile * pixelBlock;
    const count = Math.min(pixelBlock, pixels - first);
    const ldc = groups * outputs * 4;
    if (bias) kernels.fillRows(out + first * ldc, ldc, bias, groups * outputs, count);
    for (let group = 0; group < groups; group++) {
      for (let tap = 0; tap < taps; tap += tapBlock) {
        const last = Math.min(taps, tap + tapBlock);
        const k = (last - tap) * c;
        kernels.gatherPatches(scratch, x + group * c * 4, c, first, count, tap, last, argsAddress);
        products.withWeight(
          {
            m: count,
            n: outputs,
            k,
            a: scratch,
            lda: k * 4,
            c: out + first * ldc + group * outputs * 4,
            ldc,
            add: bias !== 0 || tap > 0,
          },
          { address: weight + group * groupBytes, n0: 0, k0: tap * c, k: taps * c },
        );
      }
    }
  },
);

/**
 * Transposed 1-D convolution: rows of `x [rows, c]` times all taps into scratch, then added up where they overlap, in order of the rows.
 * A tile is `block` rows of the output `[length, outputs]`.
 */
export const convTransposeJob = defineJob(
  ['x', 'weight', 'bias', 'out', 'rows', 'c', 'outputs', 'k', 'stride', 'padding', 'length', 'block'],
  ({ kernels, products, scratch }, job, tile) => {
    const { x, weight, bias, out, rows, c, outputs, k, stride, padding, length, block } = job;
    const start = tile * block;
    const end = Math.min(length, start + block);
    const run = outputs * 4;
    kernels.fillRows(out + start * run, run, bias, outputs, end - start);
    const first = Math.max(0, Math.ceil((start + padding - k + 1) / stride));
    const last = Math.min(rows - 1, Math.floor((end - 1 + padding) / stride));
    if (last < first) return;
    const n = k * outputs;
    const product = { m: last - first + 1, n, k: c, a: x + first * c * 4, lda: c * 4, c: scratch, ldc: n * 4 };
    products.withWeight({ ...product, add: false }, { address: weight, n0: 0, k0: 0, k: c });
    for (let row = first; row <= last; row++) {
      for (let tap = 0; tap < k; tap++) {
        const at = row * stride - padding + tap;
        if (at < start || at >= end) continue;
        const to = out + at * run;
        kernels.pairSame(to, to, scratch + ((row - first) * k + tap) * run, outputs, false);
      }
    }
  },
);
