// Mersenne twister MT19937 (Matsumoto and Nishimura 1998), the source of PyTorch's random numbers on a CPU.

const size = 624;
const middle = 397;

/** A stream of uniform 32-bit integers. */
export class MersenneTwister {
  readonly #state = new Int32Array(size);
  #index = size;

  /** @param seed its low 32 bits start the stream */
  constructor(seed: number) {
    const state = this.#state;
    state[0] = seed;
    for (let i = 1; i < size; i++) {
      const previous = state[i - 1] as number;
      state[i] = Math.imul(1812433253, previous ^ (previous >>> 30)) + i;
    }
  }

  /** The next number, 0 … 2^32 - 1. */
  next(): number {
    if (this.#index === size) this.#twist();
    let y = this.#state[this.#index++] as number;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  #twist(): void {
    const state = this.#state;
    for (let i = 0; i < size; i++) {
      const following = state[i + 1 === size ? 0 : i + 1] as number;
      const mixed = ((state[i] as number) & 0x80000000) | (following & 0x7fffffff);
      const far = state[i + middle < size ? i + middle : i + middle - size] as number;
      state[i] = far ^ (mixed >>> 1) ^ (following & 1 ? 0x9908b0df : 0);
    }
    this.#index = 0;
  }
}
