// Units of the action numbers that are steps, angles and places, as in tools/micro/world/units.py.

/** How many of these units make 16 px, a radian, or half of the picture: what the checkpoint was trained with. */
export const larger: number = 4;

/** Columns that are multiplied, by kind of scene. */
const columns = { arm: [0, 1], joints: [0, 1, 2], pusht: [0, 1] } as const satisfies Record<string, readonly number[]>;

/** Action rows with the kind's columns times `factor`. */
export function scaled(
  rows: readonly (readonly number[])[],
  kind: keyof typeof columns,
  factor: number,
): readonly (readonly number[])[] {
  const few: readonly number[] = columns[kind];
  return rows.map((row) => row.map((value, column) => (few.includes(column) ? value * factor : value)));
}
