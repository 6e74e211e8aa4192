// Where the arrays of a weight lie on the device, and who gives their memory back.
import type { MemoryPool } from '../runtime/memory/memory-pool.js';

export interface WeightPlace {
  /** Address of one of the arrays. @throws Error where it is not on the device now */
  at(array: number): number;
  free(): void;
}

/** Arrays that stay on the device. */
export function residentPlace(pool: MemoryPool, addresses: readonly number[]): WeightPlace {
  return {
    at: (array) => addresses[array] ?? 0,
    free() {
      for (const address of addresses) pool.free(address);
    },
  };
}
