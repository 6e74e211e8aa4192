// Norms, pointwise ops and rotary positions: a tile is some rows, or some elements.
import { defineJob, type Job } from './job.js';

/** Rows, or elements, of a tile: its start and how many are left of `total`. */
function part({ block, total }: Job<'block' | 'total'>, tile: number): readonly [start: number, count: number] {
  const start = tile * block;
  return [start, Math.min(block, total - start)];
}

const span = ['block', 'total'] as const;

export const rmsNormJob = defineJob([...span, 'to', 'x', 'weight', 'c', 'eps', 'kind'], ({ kernels }, job, tile) => {
  const [start, rows] = part(job, tile);
  const { to, x, weight, c, eps, kind } = job;
  kernels.rmsNormRows(to + start * c * 4, x + start * c * 4, weight, rows, c, eps, kind);
});

export const layerNormJob = defineJob([...span, 'to', 'x', 'weight', 'bias', 'c', 'eps'], ({ kernels }, job, tile) => {
  const [start, rows] = part(job, tile);
  const { to, x, weight, bias, c, eps } = job;
  kernels.layerNormRows(to + start * c * 4, x + start * c * 4, weight, bias, rows, c, eps);
});

export const pairSameJob = defineJob([...span, 'to', 'a', 'b', 'multiply'], ({ kernels }, job, tile) => {
  const [start, count] = part(job, tile);
  const { to, a, b, multiply } = job;
  kernels.pairSame(to + start * 4, a + start * 4, b + start * 4, count, multiply !== 0);
});

export const pairSpreadJob = defineJob([...span, 'to', 'a', 'b', 'c', 'multiply'], ({ kernels }, job, tile) => {
  const [start, rows] = part(job, tile);
  const { to, a, b, c, multiply } = job;
  kernels.pairSpread(to + start * c * 4, a + start * c * 4, b, rows, c, multiply !== 0);
});

export const activateJob = defineJob([...span, 'to', 'x', 'kind'], ({ kernels }, job, tile) => {
  const [start, count] = part(job, tile);
  kernels.activate(job.to + start * 4, job.x + start * 4, count, job.kind);
});

export const swigluJob = defineJob([...span, 'to', 'x', 'f'], ({ kernels }, job, tile) => {
  const [start, rows] = part(job, tile);
  const { to, x, f } = job;
  kernels.swigluRows(to + start * f * 4, x + start * f * 8, rows, f);
});

export const snakeJob = defineJob([...span, 'to', 'x', 'frequency', 'inverse', 'c'], ({ kernels }, job, tile) => {
  const [start, rows] = part(job, tile);
  const { to, x, frequency, inverse, c } = job;
  kernels.snakeRows(to + start * c * 4, x + start * c * 4, frequency, inverse, rows, c);
});

export const meanJob = defineJob([...span, 'to', 'x', 'c'], ({ kernels }, job, tile) => {
  const [start, rows] = part(job, tile);
  kernels.meanRows(job.to + start * 4, job.x + start * job.c * 4, rows, job.c);
});

const combineFields = [...span, 'to', 'terms'] as const;

/** Terms that fit on the board. */
export const maxTerms = 200;

/** Behind the named numbers: address and factor of each term. */
export const combineJob = defineJob(combineFields, ({ kernels, argsAddress }, job, tile) => {
  const [start, count] = part(job, tile);
  kernels.combine(job.to, argsAddress + combineFields.length * 8, job.terms, start, count);
});

export const addRowsJob = defineJob([...span, 'to', 'x', 'row', 'mask', 'c'], ({ kernels }, job, tile) => {
  const [start, rows] = part(job, tile);
  const { to, x, row, mask, c } = job;
  kernels.addRows(to + start * c * 4, x + start * c * 4, row, mask + start * 4, rows, c);
});

export const toBytesJob = defineJob([...span, 'to', 'x'], ({ kernels }, job, tile) => {
  const [start, count] = part(job, tile);
  kernels.toBytes(job.to + start, job.x + start * 4, count);
});

export const rotateJob = defineJob(
  [...span, 'to', 'x', 'stride', 'heads', 'd', 'weight', 'eps', 'cos', 'sin'],
  ({ kernels }, job, tile) => {
    const [start, rows] = part(job, tile);
    const { to, x, stride, heads, d, weight, eps, cos, sin } = job;
    const angle = start * d * 4;
    const out = to + start * heads * d * 4;
    kernels.rotateHeads(out, x + start * stride, stride, rows, heads, d, weight, eps, cos + angle, sin + angle);
  },
);
