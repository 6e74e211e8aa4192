// Objects whose absent fields are absent, not undefined.

/** The type of an object without its undefined fields. */
export type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** A copy without the fields that are undefined. */
export function omitUndefined<T extends object>(values: T): Defined<T> {
  const result: Defined<T> = {};
  for (const key of Object.keys(values) as (keyof T)[]) {
    if (values[key] !== undefined) result[key] = values[key] as Exclude<T[keyof T], undefined>;
  }
  return result;
}
