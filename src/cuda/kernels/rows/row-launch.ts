// How rows are dealt to threads: a warp each where they are short, a block each where they are long.
import type { Defines } from '../../runtime/module-cache.js';
import type { KernelLaunch } from '../../runtime/runtime.js';
import { blockThreads } from '../elementwise.js';

/** Longest row that one warp holds, in accesses of a lane. */
const stepsOfWarp = 8;

/**
 * Defines of `row.cuh` and the grid for `rows` rows of `c` elements, `width` at a time.
 * @param longBlock threads of a block whose row would keep more than 32 elements in each of the usual ones
 */
export function rowLaunch(
  rows: number,
  c: number,
  width: number,
  longBlock = blockThreads,
): { readonly defines: Defines; readonly launch: Pick<KernelLaunch, 'grid' | 'block'> } {
  const block = c > 32 * blockThreads ? longBlock : blockThreads;
  const threads = c <= stepsOfWarp * 32 * width ? 32 : block;
  const perBlock = block / threads;
  return {
    defines: { C: c, VEC: width, THREADS: threads, ROWS: perBlock },
    launch: { grid: [Math.ceil(rows / perBlock)], block },
  };
}
