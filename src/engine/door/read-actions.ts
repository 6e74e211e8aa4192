// Action arrays: [T][D], or [1][T][D] as batches have it.
import { RequestError, showValue } from '../../protocol/index.js';

/**
 * Reads rows of numbers.
 * @param value `[T][D]`, `[1][T][D]`, or an object whose `data` (or `action`) holds one of them
 * @returns `[T][D]`
 * @throws RequestError when it is empty, ragged, or has a value that is no finite number
 */
export function readActionRows(name: string, value: unknown): readonly (readonly number[])[] {
  const rows = unwrap(value);
  const fail = (why: string): never => {
    throw new RequestError('invalid_value', name, `${name} ${why}`);
  };
  if (!Array.isArray(rows) || rows.length === 0 || !rows.every((row) => Array.isArray(row) && row.length > 0)) {
    return fail(`must be a list of rows of numbers, [steps][numbers], got ${showValue(value)}`);
  }
  const width: number = rows[0].length;
  return rows.map((row: readonly unknown[], i) => {
    if (row.length !== width)
      fail(`has rows of different lengths: row 0 has ${width} numbers, row ${i} has ${row.length}`);
    return row.map((item, j) => {
      if (typeof item === 'number' && Number.isFinite(item)) return item;
      return fail(`must hold finite numbers, got ${item === null ? 'null' : showValue(item)} at row ${i}, column ${j}`);
    });
  });
}

function unwrap(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    if ('data' in value) return unwrap(value.data);
    return 'action' in value ? unwrap(value.action) : value;
  }
  if (!Array.isArray(value) || value.length !== 1) return value;
  const [only]: readonly unknown[] = value;
  return Array.isArray(only) && Array.isArray(only[0]) ? only : value;
}
