// What a job is: named numbers that all its tiles share, and the function that does one tile.
import type { Thread } from '../threads/thread.js';

/** The numbers of a job: addresses, strides in bytes, counts. */
export type Job<F extends string> = Readonly<Record<F, number>>;

/** Does tile `tile`. Numbers beyond the named ones lie behind them, in `thread.args`. */
export type TileFunction<F extends string> = (thread: Thread, job: Job<F>, tile: number) => void;

export interface JobKind<F extends string = string> {
  /** Names of the numbers, in their order on the board. */
  readonly fields: readonly F[];
  /** Reads the job off the board; what it returns does one tile. */
  begin(thread: Thread): (tile: number) => void;
}

/** Makes a kind of job of its field names and its tile function. */
export function defineJob<const F extends string>(fields: readonly F[], tileFunction: TileFunction<F>): JobKind<F> {
  return {
    fields,
    begin(thread) {
      const job: Partial<Record<F, number>> = {};
      for (let i = 0; i < fields.length; i++) job[fields[i] as F] = thread.args[i] as number;
      return (tile) => tileFunction(thread, job as Job<F>, tile);
    },
  };
}

/** Puts the numbers of a job on the board, `extra` behind the named ones. */
export function writeJob(
  fields: readonly string[],
  args: Float64Array,
  job: Readonly<Record<string, number>>,
  extra: readonly number[] = [],
): void {
  if (fields.length + extra.length > args.length)
    throw new RangeError(`${extra.length} numbers behind a job, at most ${args.length - fields.length} fit`);
  for (let i = 0; i < fields.length; i++) args[i] = job[fields[i] as string] as number;
  for (let i = 0; i < extra.length; i++) args[fields.length + i] = extra[i] as number;
}
