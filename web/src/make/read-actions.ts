// A file of robot actions: rows of numbers as JSON or CSV.

/** Rows of equal length, at least one; null where the text holds none. JSON may wrap them in `data`, `action` or `actions`. */
export function readActions(text: string): readonly (readonly number[])[] | null {
  const rows = /^\s*[[{]/.test(text) ? rowsOfJson(text) : rowsOfCsv(text);
  const width = rows?.[0]?.length ?? 0;
  return rows && width > 0 && rows.every((row) => row.length === width && row.every(Number.isFinite)) ? rows : null;
}

function rowsOfJson(text: string): readonly (readonly number[])[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return rowsIn(value);
  } catch {
    return null;
  }
}

function rowsIn(value: unknown): readonly (readonly number[])[] | null {
  if (Array.isArray(value)) {
    const isRows = value.every((row) => Array.isArray(row) && row.every((item) => typeof item === 'number'));
    if (isRows) return value;
    return value.length === 1 ? rowsIn(value[0]) : null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const named = Object.entries(value).find(([name]) => ['data', 'action', 'actions'].includes(name));
  return named ? rowsIn(named[1]) : null;
}

/** A first line of words names the columns; a column `step`, `frame` or `time` counts and is no action. */
function rowsOfCsv(text: string): readonly (readonly number[])[] | null {
  const lines = text
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(/[,;\t]/).map((cell) => cell.trim()));
  const [head] = lines;
  if (head === undefined) return null;
  const hasHead = head.some((cell) => cell === '' || Number.isNaN(Number(cell)));
  const counts = hasHead ? head.map((cell) => /^(step|frame|time|t|seconds)$/i.test(cell)) : [];
  return (hasHead ? lines.slice(1) : lines).map((cells) =>
    cells.filter((_, i) => counts[i] !== true).map((cell) => (cell === '' ? Number.NaN : Number(cell))),
  );
}
