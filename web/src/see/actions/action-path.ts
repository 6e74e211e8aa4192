// The path in space that rows of actions stand for.
import type { PathSource } from './action-layout.js';

export type Point3 = readonly [x: number, y: number, z: number];
type Rows = readonly (readonly number[])[];

/** Columns of a rotation. */
type Axes = readonly [Point3, Point3, Point3];

const identity: Axes = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];

/** Places by row; steps of a pose start at the origin, so that they have one place more than rows. */
export function pathOf(rows: Rows, source: PathSource): readonly Point3[] {
  switch (source.kind) {
    case 'places':
      return rows.map((row) => [
        row[source.position] ?? 0,
        row[source.position + 1] ?? 0,
        source.width === 3 ? (row[source.position + 2] ?? 0) : 0,
      ]);
    case 'pose-steps':
      return integrate(rows, source.position, source.rotation);
    default:
      return source satisfies never;
  }
}

/** Poses T_{i+1} = T_i · D_i from changes of pose D_i; only the places are kept. */
function integrate(rows: Rows, position: number, rotation: number): readonly Point3[] {
  let place: Point3 = [0, 0, 0];
  let axes = identity;
  const path: Point3[] = [place];
  for (const row of rows) {
    const step = pointAt(row, position);
    place = add(place, turn(axes, step));
    const change = axesOf(pointAt(row, rotation), pointAt(row, rotation + 3));
    axes = [turn(axes, change[0]), turn(axes, change[1]), turn(axes, change[2])];
    path.push(place);
  }
  return path;
}

/** The rotation nearest to two given columns (Gram-Schmidt); the identity where they span no plane. */
export function axesOf(first: Point3, second: Point3): Axes {
  const a = unit(first);
  const along = a === null ? 0 : dot(a, second);
  const b = a === null ? null : unit([second[0] - along * a[0], second[1] - along * a[1], second[2] - along * a[2]]);
  return a === null || b === null ? identity : [a, b, cross(a, b)];
}

function pointAt(row: readonly number[], start: number): Point3 {
  return [row[start] ?? 0, row[start + 1] ?? 0, row[start + 2] ?? 0];
}

function turn([a, b, c]: Axes, [x, y, z]: Point3): Point3 {
  return [a[0] * x + b[0] * y + c[0] * z, a[1] * x + b[1] * y + c[1] * z, a[2] * x + b[2] * y + c[2] * z];
}

function add(a: Point3, b: Point3): Point3 {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}

function dot(a: Point3, b: Point3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a: Point3, b: Point3): Point3 {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function unit(a: Point3): Point3 | null {
  const length = Math.hypot(...a);
  return length < 1e-6 ? null : [a[0] / length, a[1] / length, a[2] / length];
}
