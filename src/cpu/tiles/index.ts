// All kinds of jobs that threads can be asked to do. The order is their numbering on the job board.
import type { Thread } from '../threads/thread.js';
import { attentionJob } from './attention.js';
import { convJob, convTransposeJob } from './convolution.js';
import type { Job, JobKind } from './job.js';
import { matmulJob, packJob } from './matmul.js';
import { copyRowsJob, narrowJob, permuteJob, upsampleJob, widenJob } from './move.js';
import * as rows from './rows.js';

export const jobs = {
  pack: packJob,
  matmul: matmulJob,
  attention: attentionJob,
  conv: convJob,
  convTranspose: convTransposeJob,
  rmsNorm: rows.rmsNormJob,
  layerNorm: rows.layerNormJob,
  pairSame: rows.pairSameJob,
  pairSpread: rows.pairSpreadJob,
  activate: rows.activateJob,
  swiglu: rows.swigluJob,
  snake: rows.snakeJob,
  mean: rows.meanJob,
  combine: rows.combineJob,
  addRows: rows.addRowsJob,
  toBytes: rows.toBytesJob,
  rotate: rows.rotateJob,
  copyRows: copyRowsJob,
  permute: permuteJob,
  upsample: upsampleJob,
  widen: widenJob,
  narrow: narrowJob,
} as const;

export type JobName = keyof typeof jobs;

/** The numbers that a job of that name needs. */
export type JobOf<N extends JobName> = Readonly<Record<string, number>> &
  ((typeof jobs)[N] extends JobKind<infer F> ? Job<F> : never);

/** Numbers of the jobs on the board. */
export const jobNames = Object.keys(jobs) as readonly JobName[];

const kinds = Object.values(jobs);

/** Reads the job with that number off the board; what it returns does one tile. */
export function beginJob(number: number, thread: Thread): (tile: number) => void {
  const kind = kinds[number];
  if (!kind) throw new RangeError(`no job ${number}: the built worker differs from the program, run "npm run build"`);
  return kind.begin(thread);
}
