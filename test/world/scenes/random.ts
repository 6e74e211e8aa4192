// Chance with a seed: the same numbers on every machine.

/** Draws numbers; equal seeds draw equal ones. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
    for (let i = 0; i < 4; i++) this.next();
  }

  /** The next number in [0, 1): mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  uniform(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** A whole number in 0 … count-1. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** `count` different numbers of 0 … range-1, in random order. */
  distinct(count: number, range: number): number[] {
    const numbers = Array.from({ length: range }, (_, i) => i);
    return Array.from({ length: count }, () => numbers.splice(this.below(numbers.length), 1)[0] as number);
  }
}
