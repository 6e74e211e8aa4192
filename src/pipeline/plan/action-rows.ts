// The numbers of an action array: their form, and their number. Source: api spec, 3.4.
import { refuse, type Warn } from './ranges.js';

/**
 * Returns copies of the rows if each has `rawDim` finite numbers.
 * @throws RequestError naming the row, and the column of a value that is no finite number
 */
export function checkRows(param: string, rows: readonly (readonly number[])[], rawDim: number): number[][] {
  const first = rows[0]?.length ?? 0;
  return rows.map((row, r) => {
    if (row.length !== first)
      refuse(
        'invalid_value',
        param,
        `${param} is ragged: row ${r} has ${row.length} numbers, row 0 has ${first}; give all rows the same width`,
      );
    if (row.length !== rawDim)
      refuse(
        'invalid_value',
        param,
        `${param} has ${row.length} numbers per row, raw_action_dim is ${rawDim}; give rows of that width, or state another raw_action_dim`,
      );
    // By index, because a hole in an array is no number either.
    return Array.from(row, (value, c) => {
      if (Number.isFinite(value)) return value;
      return refuse(
        'invalid_value',
        param,
        `${param} row ${r}, column ${c} is ${value}; every number must be finite: correct it`,
      );
    });
  });
}

/** Rows brought to `chunk`: cut, or the last one repeated. @throws RequestError as `checkRows` */
export function fitRows(
  rows: readonly (readonly number[])[],
  { chunk, rawDim }: { readonly chunk: number; readonly rawDim: number },
  warn: Warn,
): number[][] {
  const checked = checkRows('action', rows, rawDim);
  if (checked.length > chunk)
    warn(
      'action',
      `action has ${checked.length} rows; those after action_chunk_size ${chunk} are dropped: ask for more frames to use them`,
    );
  if (checked.length < chunk)
    warn('action', `action has ${checked.length} rows; the last is repeated up to action_chunk_size ${chunk}`);
  const last = checked.at(-1) ?? [];
  return Array.from({ length: chunk }, (_, r) => [...(checked[r] ?? last)]);
}
