// PyTorch's random generator on a CPU: a seed means the same noise here as there.
import { transformBlock } from './box-muller.js';
import { MersenneTwister } from './mersenne-twister.js';

/** Numbers per block of the vector path; fewer than one block are drawn one by one. */
const block = 16;

/** One stream of normal numbers: `torch.Generator().manual_seed(seed)` on a CPU. Every draw continues where the last one ended. */
export class NoiseGenerator {
  readonly #twister: MersenneTwister;
  /** Second half of the last pair of the one-by-one path. */
  #kept: number | undefined;

  /**
   * @param seed a whole number in -2^63 … 2^64 - 1; as in PyTorch only its low 32 bits count
   * @throws RangeError for any other seed
   */
  constructor(seed: number | bigint) {
    const whole = typeof seed === 'bigint' || Number.isSafeInteger(seed) ? BigInt(seed) : undefined;
    if (whole === undefined || whole < -(2n ** 63n) || whole >= 2n ** 64n)
      throw new RangeError(
        `the seed is ${seed}; it must be a whole number from -2^63 to 2^64 - 1, a bigint where it is beyond 2^53`,
      );
    this.#twister = new MersenneTwister(Number(BigInt.asIntN(32, whole)));
  }

  /**
   * Draws `count` standard normal numbers in float32, equal to `torch.randn` of a contiguous float32 tensor with that many elements.
   * A draw of several tensors is one call each, since the algorithm depends on the size.
   * @throws RangeError when count is not a whole number >= 0
   */
  normal(count: number): Float32Array {
    if (!Number.isSafeInteger(count) || count < 0)
      throw new RangeError(`asked for ${count} random numbers; the count must be a whole number of at least 0`);
    return count < block ? Float32Array.from({ length: count }, () => this.#single()) : this.#blocks(count);
  }

  #blocks(count: number): Float32Array {
    const values = new Float32Array(count);
    const bits = new Int32Array(values.buffer);
    this.#fillUniform(values, 0);
    const whole = count - (count % block);
    for (let begin = 0; begin < whole; begin += block) transformBlock(values, bits, begin);
    if (whole < count) {
      // The last 16 are drawn anew, the ones already made from them included.
      this.#fillUniform(values, count - block);
      transformBlock(values, bits, count - block);
    }
    return values;
  }

  /** Uniform numbers in [0, 1) of 24 bits, from `begin` to the end. */
  #fillUniform(values: Float32Array, begin: number): void {
    const twister = this.#twister;
    for (let i = begin; i < values.length; i++) values[i] = (twister.next() & 0xffffff) * 2 ** -24;
  }

  /** Box-Muller in float64, in pairs. */
  #single(): number {
    const kept = this.#kept;
    if (kept !== undefined) {
      this.#kept = undefined;
      return kept;
    }
    const angle = 2 * Math.PI * this.#uniformDouble();
    const radius = Math.sqrt(-2 * Math.log1p(-this.#uniformDouble()));
    this.#kept = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }

  /** Uniform in [0, 1) of 53 bits: the low 21 bits of one word above all of the next. */
  #uniformDouble(): number {
    const high = this.#twister.next() & 0x1fffff;
    return (high * 2 ** 32 + this.#twister.next()) * 2 ** -53;
  }
}
