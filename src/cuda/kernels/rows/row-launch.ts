// How rows are dealt to threads: a warp each where they are short, a block each where they are long.
import type { Defines } from '../../runtime/module-cache.js';
import type { KernelLaunch } from '../../runtime/runtime.js';
import { blockThreads } from '../elementwise.js';

/** Longest row that one warp holds, in accesses of a lane. */
const stepsOfWarp = 8;

/** Defines of `row.cuh` and the grid for `rows` rows of `c` elements, `width` at a time. */
export function rowLaunch(
  rows: number,
  c: number,
  width: number,
): { readonly defines: Defines; readonly launch: Pick<KernelLaunch, 'grid' | 'block'> } {
  const threads = c <= stepsOfWarp * 32 * width ? 32 : blockThreads;
  const perBlock = blockThreads / threads;
  return {
    defines: { C: c, VEC: width, THREADS: threads, ROWS: perBlock },
    launch: { grid: [Math.ceil(rows / perBlock)], block: blockThreads },
  };
}
