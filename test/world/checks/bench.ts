// What every check is given.
import { Random } from '../scenes/random.js';
import type { Figure } from './figures.js';
import type { Studio } from './studio.js';

export interface Bench {
  readonly studio: Pick<Studio, 'picture' | 'clip' | 'clipWithSound' | 'actions'>;
  /** How many of the usual number of prompts are tried, 0 … 1. */
  readonly scale: number;
  /** Which set of prompts and seeds: 0 the one that is reported, others to choose settings on. */
  readonly set: number;
  /** Frames of clips from words and from a picture; the usual number where absent. */
  readonly frames?: number;
  /** Told what is being done. */
  readonly report: (message: string) => void;
  /** The part of the cases that this process measures; all of them where absent. */
  readonly share?: Share;
  /** The result of a case that another process has measured; nothing is made where this is given. */
  readonly found?: (place: string) => unknown;
}

/** Every `count`-th case from `index` on. What a check makes of a share alone means nothing: `tell` brings it together with the others. */
export interface Share {
  readonly index: number;
  readonly count: number;
  readonly tell: (place: string, result: unknown) => void;
}

export type Check = (bench: Bench) => Promise<readonly Figure[]>;

/** First number of a set's cases and seeds: no set reaches the next one. */
const setSize = 1000;

/** Runs `measure` on `usual` cases (fewer by the bench's scale, at least 2), each with chance of its own seed. */
export async function overCases<T>(
  { scale, set, report, share, found }: Bench,
  name: string,
  usual: number,
  measure: (random: Random, seed: number) => Promise<T>,
): Promise<T[]> {
  const count = Math.max(2, Math.round(usual * scale));
  if (found !== undefined) return Array.from({ length: count }, (_, index) => found(`${name} ${index}`) as T);
  const results: T[] = [];
  for (let index = 0; index < count; index++) {
    if (share !== undefined && index % share.count !== share.index) continue;
    report(`${name} ${index + 1} of ${count}`);
    const seed = set * setSize + index;
    const result = await measure(new Random(hash(name) + seed), seed);
    share?.tell(`${name} ${index}`, result);
    results.push(result);
  }
  return results;
}

/** Every third case is of a combination kept from training. */
export const isHeldOutCase = (index: number): boolean => index % 3 === 2;

function hash(text: string): number {
  let sum = 7;
  for (const letter of text) sum = (Math.imul(sum, 31) + letter.charCodeAt(0)) >>> 0;
  return sum;
}
