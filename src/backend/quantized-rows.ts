// Rows in eight bits: the numbers of their format, and how they are told from plain tensors.
import type { QuantizedRows, Rows } from './backend.js';

/** The largest number of E4M3. */
export const largestE4m3 = 448;

/** The smallest factor of a row, so that rows of zeros do not divide by zero. */
export const smallestScale = 1e-12;

export function isQuantized(x: Rows): x is QuantizedRows {
  return 'scales' in x;
}
