// Cases of norms, pointwise ops and the weighted sum.

import * as composites from '../../../src/backend/composites.js';
import type { Activation, Tensor } from '../../../src/backend/index.js';
import { exact, given, type OpCase, random, type TensorInput } from './op-case.js';

interface NormCase {
  readonly activation?: Activation;
  readonly frames?: number;
}

function rmsNorm(shape: readonly number[], { activation, frames }: NormCase = {}): OpCase {
  const options = (t: (name: string) => Tensor) => ({
    eps: 1e-6,
    ...(activation ? { activation } : {}),
    ...(frames === undefined ? {} : { front: t('front') }),
  });
  return {
    op: 'norm',
    name: `rmsNorm [${shape.join(', ')}]${activation ? ` ${activation}` : ''}${frames === undefined ? '' : ` front ${frames}`}`,
    inputs: {
      x: random(shape, 3),
      weight: random([shape.at(-1) ?? 1]),
      ...(frames === undefined ? {} : { front: random([frames, ...shape.slice(1)]) }),
    },
    run: (b, { t }) => [b.rmsNorm(t('x'), t('weight'), options(t))],
    composite: (b, { t }) => [composites.rmsNorm(b, t('x'), t('weight'), options(t))],
  };
}

function layerNorm(rows: number, c: number, bias: boolean): OpCase {
  return {
    op: 'norm',
    name: `layerNorm [${rows}, ${c}]${bias ? ' bias' : ''}`,
    inputs: { x: random([rows, c], 3), weight: random([c]), ...(bias ? { bias: random([c]) } : {}) },
    run: (b, { t }) => [b.layerNorm(t('x'), t('weight'), bias ? t('bias') : null, 1e-5)],
  };
}

function pair(op: 'add' | 'multiply', a: readonly number[], b: readonly number[]): OpCase {
  return {
    op: 'pointwise',
    name: `${op} [${a.join(', ')}] and [${b.join(', ')}]`,
    inputs: { a: random(a), b: random(b) },
    run: (backend, { t }) => [backend[op](t('a'), t('b'))],
  };
}

const shapes: readonly (readonly [readonly number[], readonly number[]])[] = [
  [[1], [1]],
  [
    [7, 9],
    [7, 9],
  ],
  [[7, 9], [9]],
  [[4, 64], [64]],
  [
    [3, 4, 5, 6],
    [4, 5, 6],
  ],
  [
    [3, 4, 5, 6],
    [5, 6],
  ],
  [[3, 4, 5, 7], [7]],
  [[5000], [5000]],
];

/** Values around zero, large ones whose exponentials overflow, and both zeros. */
const awkward = [-1000, -100, -88.5, -20, -3, -1, -0.5, -1e-5, -0, 0, 1e-5, 0.5, 1, 3, 20, 88.5, 100, 1000, 7];

interface SumCase {
  readonly name: string;
  readonly row: number;
  readonly terms: Readonly<Record<string, TensorInput>>;
  readonly table: readonly (readonly number[])[];
  /** A term that is also the destination. */
  readonly into?: string;
}

function combination({ name, row, terms, table, into }: SumCase): OpCase {
  const names = Object.keys(terms);
  return {
    op: 'linearCombination',
    name: `linearCombination ${name}`,
    inputs: {
      ...terms,
      dst: exact([5, 7]),
      coefficients: given([table.length, names.length], table.flat(), 'f32'),
      step: given([1], [row], 'i32'),
    },
    written: [into ?? 'dst'],
    run: (b, { t }) => {
      const dst = t(into ?? 'dst');
      b.linearCombination(dst, { terms: names.map(t), coefficients: t('coefficients'), step: t('step') });
      return [dst];
    },
  };
}

export const rowCases: readonly OpCase[] = [
  ...[
    [1, 1],
    [3, 5],
    [4, 16],
    [9, 33],
    [2, 128],
    [5, 1024],
  ].map((shape) => rmsNorm(shape)),
  rmsNorm([3, 4, 5, 12], { activation: 'silu' }),
  rmsNorm([3, 4, 5, 7], { activation: 'silu', frames: 2 }),
  rmsNorm([3, 2, 5, 16], { activation: 'gelu', frames: 1 }),
  rmsNorm([3, 2, 5, 16], { activation: 'relu2' }),
  rmsNorm([2, 3, 4, 6], { frames: 0 }),
  rmsNorm([2, 3, 4, 6], { frames: 3 }),
  rmsNorm([6, 4, 32]),
  layerNorm(1, 1, false),
  layerNorm(5, 33, true),
  layerNorm(7, 64, false),
  layerNorm(3, 1152, true),
  ...shapes.flatMap(([a, b]) => [pair('add', a, b), pair('multiply', a, b)]),
  ...(['silu', 'relu2', 'gelu', 'abs'] as const).flatMap((kind): OpCase[] => [
    {
      op: 'pointwise',
      name: `${kind} of awkward values`,
      inputs: { x: given([awkward.length], awkward) },
      run: (b, { t }) => [b.activation(t('x'), kind)],
    },
    {
      op: 'pointwise',
      name: `${kind} [37, 65]`,
      inputs: { x: random([37, 65], 6) },
      run: (b, { t }) => [b.activation(t('x'), kind)],
    },
  ]),
  ...[1, 7, 64, 129].map(
    (width): OpCase => ({
      op: 'pointwise',
      name: `swiglu [5, ${2 * width}]`,
      inputs: { x: random([5, 2 * width], 4) },
      run: (b, { t }) => [b.swiglu(t('x'))],
      composite: (b, { t }) => [composites.swiglu(b, t('x'))],
    }),
  ),
  ...[1, 6, 33].map(
    (c): OpCase => ({
      op: 'pointwise',
      name: `snake [41, ${c}]`,
      inputs: { x: random([41, c], 4), alpha: exact([c]), beta: exact([c]) },
      run: (b, { t }) => [b.snake(t('x'), t('alpha'), t('beta'))],
    }),
  ),
  ...[
    [4, 1],
    [3, 5, 7],
    [9, 130],
  ].map(
    (shape): OpCase => ({
      op: 'pointwise',
      name: `mean [${shape.join(', ')}]`,
      inputs: { x: random(shape) },
      run: (b, { t }) => [b.mean(t('x'))],
    }),
  ),
  combination({
    name: 'of three terms, second row',
    row: 1,
    terms: { a: exact([5, 7]), b: exact([5, 7]), c: exact([5, 7]) },
    table: [
      [9, 9, 9],
      [0.5, -1.25, 2],
    ],
  }),
  combination({
    name: 'skips a zero coefficient on NaN history',
    row: 0,
    terms: { a: exact([5, 7]), history: given([5, 7], new Float32Array(35).fill(Number.NaN), 'f32') },
    table: [[0.75, 0]],
  }),
  combination({
    name: 'into one of its terms',
    row: 2,
    terms: { a: exact([5, 7]), b: exact([5, 7]) },
    table: [
      [0, 0],
      [0, 0],
      [1.5, 0.25],
    ],
    into: 'b',
  }),
  combination({ name: 'of nothing but zeros', row: 0, terms: { a: exact([5, 7]) }, table: [[0]] }),
];
