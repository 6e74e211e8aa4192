// What every check is given.
import { Random } from '../scenes/random.js';
import type { Figure } from './figures.js';
import type { Studio } from './studio.js';

export interface Bench {
  readonly studio: Studio;
  /** How many of the usual number of prompts are tried, 0 … 1. */
  readonly scale: number;
  /** Which set of prompts and seeds: 0 the one that is reported, others to choose settings on. */
  readonly set: number;
  /** Told what is being done. */
  readonly report: (message: string) => void;
}

export type Check = (bench: Bench) => Promise<readonly Figure[]>;

/** First number of a set's cases and seeds: no set reaches the next one. */
const setSize = 1000;

/** Runs `measure` on `usual` cases (fewer by the bench's scale, at least 2), each with chance of its own seed. */
export async function overCases<T>(
  { scale, set, report }: Bench,
  name: string,
  usual: number,
  measure: (random: Random, seed: number) => Promise<T>,
): Promise<T[]> {
  const count = Math.max(2, Math.round(usual * scale));
  const results: T[] = [];
  for (let index = 0; index < count; index++) {
    report(`${name} ${index + 1} of ${count}`);
    const seed = set * setSize + index;
    results.push(await measure(new Random(hash(name) + seed), seed));
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
