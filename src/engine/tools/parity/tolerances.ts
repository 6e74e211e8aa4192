// How far a value may lie from the reference, by what it is. float32 on the CPU; other devices pass their own table.

export type Measure = 'relative-l2' | 'absolute' | 'exact' | 'bytes';

export interface Tolerance {
  readonly measure: Measure;
  /** Upper limit of the measure; for bytes, the share of values off by more than one. */
  readonly limit: number;
}

export type Boundary =
  | 'ids'
  | 'positions'
  | 'noise'
  | 'schedule'
  | 'encoded'
  | 'velocity'
  | 'latents'
  | 'pixels'
  | 'sound'
  | 'action'
  | 'edges'
  | 'resized';

export type Tolerances = Readonly<Record<Boundary, Tolerance>>;

export const float32Tolerances: Tolerances = {
  ids: { measure: 'exact', limit: 0 },
  positions: { measure: 'absolute', limit: 1e-3 },
  noise: { measure: 'absolute', limit: 5e-7 },
  schedule: { measure: 'relative-l2', limit: 1e-5 },
  encoded: { measure: 'relative-l2', limit: 1e-4 },
  velocity: { measure: 'relative-l2', limit: 1e-4 },
  latents: { measure: 'relative-l2', limit: 1e-4 },
  pixels: { measure: 'bytes', limit: 1e-3 },
  sound: { measure: 'relative-l2', limit: 1e-4 },
  action: { measure: 'relative-l2', limit: 1e-4 },
  edges: { measure: 'exact', limit: 0 },
  resized: { measure: 'bytes', limit: 0 },
};

export interface Comparison {
  readonly boundary: Boundary;
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  readonly passed: boolean;
}

/** Measures `actual` against `expected`. Lengths that differ fail with an infinite value. */
export function compare(
  tolerances: Tolerances,
  boundary: Boundary,
  name: string,
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
): Comparison {
  const { measure, limit } = tolerances[boundary];
  const value = actual.length === expected.length ? measures[measure](actual, expected) : Number.POSITIVE_INFINITY;
  return { boundary, name, value, limit, passed: value <= limit };
}

const measures: Readonly<Record<Measure, (a: ArrayLike<number>, b: ArrayLike<number>) => number>> = {
  exact: (a, b) => count(a, b, (x, y) => x !== y),
  bytes: (a, b) => count(a, b, (x, y) => Math.abs(x - y) > 1) / Math.max(1, b.length),
  absolute: (a, b) => {
    let worst = 0;
    for (let i = 0; i < b.length; i++) worst = Math.max(worst, finiteGap(a[i] as number, b[i] as number));
    return worst;
  },
  'relative-l2': (a, b) => {
    let error = 0;
    let norm = 0;
    for (let i = 0; i < b.length; i++) {
      error += finiteGap(a[i] as number, b[i] as number) ** 2;
      norm += (b[i] as number) ** 2;
    }
    return norm === 0 ? Math.sqrt(error) : Math.sqrt(error / norm);
  },
};

function finiteGap(a: number, b: number): number {
  const gap = Math.abs(a - b);
  return Number.isNaN(gap) ? Number.POSITIVE_INFINITY : gap;
}

function count(a: ArrayLike<number>, b: ArrayLike<number>, differs: (x: number, y: number) => boolean): number {
  let differing = 0;
  for (let i = 0; i < b.length; i++) if (differs(a[i] as number, b[i] as number)) differing++;
  return differing;
}
