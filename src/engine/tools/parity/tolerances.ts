// How far a value may lie from the reference, by what it is and by the dtype that networks compute in.

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

/**
 * Networks in bfloat16 against a float32 reference, each pass from the reference's own latents. Decoded values gather the errors of
 * the whole way; the sines of a sound decoder magnify them.
 */
export const bfloat16Tolerances: Tolerances = {
  ...float32Tolerances,
  encoded: { measure: 'relative-l2', limit: 4e-2 },
  velocity: { measure: 'relative-l2', limit: 1e-2 },
  latents: { measure: 'relative-l2', limit: 5e-2 },
  pixels: { measure: 'bytes', limit: 0.5 },
  sound: { measure: 'relative-l2', limit: 0.3 },
  action: { measure: 'relative-l2', limit: 2e-2 },
};

/** The same where weights were stored in float32: rounding them alone moves a velocity by up to 6e-3. */
const roundedWeights: Tolerances = { ...bfloat16Tolerances, velocity: { measure: 'relative-l2', limit: 1.25e-2 } };

/** The table for networks that compute in a dtype, with weights stored in one. */
export function tolerancesOf(computed: 'f32' | 'bf16', stored: 'f32' | 'other'): Tolerances {
  if (computed === 'f32') return float32Tolerances;
  return stored === 'f32' ? roundedWeights : bfloat16Tolerances;
}

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
