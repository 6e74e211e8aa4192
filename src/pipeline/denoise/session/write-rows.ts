// Host numbers over rows of a device table that stays where it is.
import { type Backend, type Tensor, uploadFloats } from '../../../backend/index.js';

/** Copies `values`, whole rows of `table [N, …]`, over those from `firstRow` on. */
export function writeRows(b: Backend, table: Tensor, values: Float32Array, firstRow = 0): void {
  const [, ...inner] = table.shape;
  const rows = values.length / inner.reduce((product, size) => product * size, 1);
  if (rows === 0) return;
  b.scope(() => {
    b.write(b.slice(table, 0, firstRow, firstRow + rows), uploadFloats(b, values, [rows, ...inner]));
    return null;
  });
}
