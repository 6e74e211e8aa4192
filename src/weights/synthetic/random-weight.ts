// A weight that is described instead of stored. Devices that know it make the numbers themselves.
import { elementCount, type HostTensor } from '../../backend/index.js';
import { fromFloat32 } from '../floats.js';
import type { StoredWeight } from '../weight-table.js';
import { byteSumDeviation, randomValues, seedOf } from './random-values.js';

/** What makes the numbers of a weight; stays with it under another shape. */
export interface RandomSource {
  /** 32 bits. */
  readonly seed: number;
  /** Factor on the sum of four random bytes less 510. */
  readonly scale: number;
}

/** A stored weight whose numbers are made where they are asked for. */
export interface RandomWeight extends StoredWeight {
  readonly random: RandomSource;
}

/**
 * A matrix or kernel of this shape, its deviation `1 / sqrt(inputs of one output)`, so that products keep the size of their inputs.
 * `bytes` (bfloat16) is no own property: a copy under another shape does not make them.
 */
export function randomWeight(name: string, shape: readonly number[]): RandomWeight {
  const fanIn = Math.max(1, elementCount(shape.slice(1)));
  return new Described(name, shape, { seed: seedOf(name), scale: 1 / (byteSumDeviation * Math.sqrt(fanIn)) });
}

class Described implements RandomWeight {
  readonly dtype = 'bf16';
  #bytes: Uint8Array | undefined;

  constructor(
    readonly name: string,
    readonly shape: readonly number[],
    readonly random: RandomSource,
  ) {}

  get bytes(): Uint8Array {
    this.#bytes ??= randomBytes(this);
    return this.#bytes;
  }
}

/** The numbers of a described weight as bfloat16. */
export function randomBytes({ shape, random: { seed, scale } }: Pick<RandomWeight, 'shape' | 'random'>): Uint8Array {
  return fromFloat32(randomValues(elementCount(shape), seed, scale), 'bf16');
}

/** Whether a part of a weight is described, under whatever shape. */
export function isRandomWeight(part: HostTensor): part is RandomWeight {
  return 'random' in part;
}
