// In what two requests differ.

/** A member that is not the same in both; undefined where one has none. */
export interface Difference {
  /** As num_frames, or extra_params.edge.preset. */
  readonly name: string;
  readonly first: unknown;
  readonly second: unknown;
}

type Named = Readonly<Record<string, unknown>>;

/** All members that differ, in the order of the first, then what the second has besides. Objects are looked into, lists are not. */
export function differencesOf(first: Named, second: Named, prefix = ''): readonly Difference[] {
  const names = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  return names.flatMap((name) => {
    const [a, b] = [first[name], second[name]];
    const path = `${prefix}${name}`;
    if (isNamed(a) && isNamed(b)) return differencesOf(a, b, `${path}.`);
    return JSON.stringify(a) === JSON.stringify(b) ? [] : [{ name: path, first: a, second: b }];
  });
}

/** A value in a cell: texts as they are, others as JSON, long ones cut. */
export function cellOf(value: unknown): string {
  if (value === undefined) return '–';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

function isNamed(value: unknown): value is Named {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
