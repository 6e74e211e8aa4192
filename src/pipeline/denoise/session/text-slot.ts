// A place for the keys and values of one prompt that stays where it is while prompts come and go: as long as the next multiple of
// 128 rows, with the true length on the device, so that a recorded step serves every prompt that fits.
import type { Backend, KeySegment, Tensor } from '../../../backend/index.js';
import type { KvCache } from '../../../models/cosmos3-transformer/index.js';

/** Rows of text slots are multiples of this. */
export const textBucket = 128;

/** Rows of the slot for a prompt of so many tokens. */
export function slotRows(tokens: number): number {
  return Math.max(1, Math.ceil(tokens / textBucket)) * textBucket;
}

export class TextSlot {
  readonly #b: Backend;
  readonly #length: Tensor;
  readonly #layers: readonly KeySegment[];
  readonly #rows: number;

  /** @param like a prompt of the transformer; its length gives the slot's. */
  constructor(b: Backend, like: KvCache) {
    this.#b = b;
    this.#rows = slotRows(like.textTokens);
    const length = b.zeros([1], 'i32');
    const place = ({ shape: [, ...inner], dtype }: Tensor) => b.zeros([this.#rows, ...inner], dtype);
    this.#layers = like.layers.map(({ k, v }) => ({ k: place(k), v: place(v), length }));
    this.#length = length;
  }

  /** The slot as the generation tower reads it. */
  get kv(): KvCache {
    return { textTokens: this.#rows, layers: this.#layers };
  }

  get tensors(): readonly Tensor[] {
    return [this.#length, ...this.#layers.flatMap(({ k, v }) => [k, v])];
  }

  /** Puts a prompt in. @throws RangeError for one of another bucket */
  write({ textTokens, layers }: KvCache): void {
    const b = this.#b;
    if (slotRows(textTokens) !== this.#rows)
      throw new RangeError(`a text of ${textTokens} tokens does not belong into a slot of ${this.#rows}`);
    b.scope(() => {
      for (const [i, { k, v }] of layers.entries()) {
        const to = this.#layers[i] as KeySegment;
        b.write(b.slice(to.k, 0, 0, textTokens), k);
        b.write(b.slice(to.v, 0, 0, textTokens), v);
      }
      const bytes = new Uint8Array(Int32Array.of(textTokens).buffer);
      b.write(this.#length, b.upload({ shape: [1], dtype: 'i32', bytes }));
      return null;
    });
  }
}
