// Moving and converting elements.
import { defineJob } from './job.js';

/** `total` runs of `bytes` bytes, `block` of them a tile. */
export const copyRowsJob = defineJob(
  ['block', 'total', 'to', 'toStride', 'from', 'fromStride', 'bytes'],
  ({ kernels }, { block, total, to, toStride, from, fromStride, bytes }, tile) => {
    const start = tile * block;
    const rows = Math.min(block, total - start);
    kernels.copyRows(to + start * toStride, toStride, from + start * fromStride, fromStride, bytes, rows);
  },
);

/** Axes of a permutation that fit on the board, after neighbours that stay together are merged. */
export const maxAxes = 16;

const permuteFields = ['to', 'from', 'unit', 'outer', 'n0', 's0', 'n1', 's1', 'n2', 's2', 'split'] as const;

/**
 * Units of `unit` bytes: `outer` leading axes (size and source stride of each behind the named numbers), then a block `[n0, n1, n2]`.
 * A tile is `split` of the n0 rows of one block.
 */
export const permuteJob = defineJob(permuteFields, ({ args, kernels }, job, tile) => {
  const { to, unit, outer, n0, s0, n1, s1, n2, s2, split } = job;
  const parts = Math.ceil(n0 / split);
  const block = Math.floor(tile / parts);
  const start = (tile % parts) * split;
  let from = job.from + start * s0;
  let rest = block;
  for (let axis = outer - 1; axis >= 0; axis--) {
    const size = args[permuteFields.length + 2 * axis] as number;
    from += (rest % size) * (args[permuteFields.length + 2 * axis + 1] as number);
    rest = Math.floor(rest / size);
  }
  const out = to + (block * n0 + start) * n1 * n2 * unit;
  kernels.copyStrided(out, from, Math.min(split, n0 - start), s0, n1, s1, n2, s2, unit);
});

export const upsampleJob = defineJob(
  ['block', 'total', 'to', 'from', 'w', 'pixel', 'factor'],
  ({ kernels }, { block, total, to, from, w, pixel, factor }, tile) => {
    const start = tile * block;
    const bytes = start * w * pixel;
    const rows = Math.min(block, total - start);
    kernels.upsampleRows(to + bytes * factor * factor, from + bytes, rows, w, pixel, factor);
  },
);

/** Elements of a stored float dtype to float32. */
export const widenJob = defineJob(
  ['block', 'total', 'to', 'from', 'dtype', 'elementBytes'],
  ({ kernels }, { block, total, to, from, dtype, elementBytes }, tile) => {
    const start = tile * block;
    const count = Math.min(block, total - start);
    kernels.widen(to + start * 4, from + start * elementBytes, count, dtype, 1);
  },
);

/** float32 to bfloat16. */
export const narrowJob = defineJob(
  ['block', 'total', 'to', 'from'],
  ({ kernels }, { block, total, to, from }, tile) => {
    const start = tile * block;
    kernels.narrow(to + start * 2, from + start * 4, Math.min(block, total - start));
  },
);
