// Rows in eight bits, and how they are told from plain tensors.
import type { QuantizedRows, Rows } from './backend.js';

export function isQuantized(x: Rows): x is QuantizedRows {
  return 'scales' in x;
}
