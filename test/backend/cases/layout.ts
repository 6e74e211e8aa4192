// Cases of layout ops, conversions, positions and output: most of them exact.

import * as composites from '../../../src/backend/composites.js';
import type { DType, Tensor } from '../../../src/backend/index.js';
import { exact, given, type OpCase, random, weight } from './op-case.js';

const dtypes: readonly DType[] = ['f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2', 'i64', 'i32', 'u8'];
const halves = [-448, -3.5, -1, -0.0009, 0, 1e-6, 0.1, 0.3, 0.5, 1.0625, 1.1875, 2.5, 17, 240, 255];
const whole = [0, 1, 2, 3, 100, 127, 128, 200, 255, 7, 9, 11, 13, 15, 17];

function slice(shape: readonly number[], axis: number, start: number, end: number): OpCase {
  return {
    op: 'layout',
    name: `slice [${shape.join(', ')}] axis ${axis} ${start}..${end}`,
    inputs: { x: random(shape) },
    run: (b, { t }) => [b.slice(t('x'), axis, start, end)],
  };
}

function permute(shape: readonly number[], axes: readonly number[], dtype?: DType): OpCase {
  return {
    op: 'layout',
    name: `permute [${shape.join(', ')}] to [${axes.join(', ')}] ${dtype ?? ''}`,
    inputs: { x: dtype ? exact(shape, dtype, 100) : random(shape) },
    run: (b, { t }) => [b.permute(t('x'), axes)],
  };
}

function concat(shapes: readonly (readonly number[])[], axis: number): OpCase {
  return {
    op: 'layout',
    name: `concat ${shapes.map((s) => `[${s.join(', ')}]`).join(' ')} axis ${axis}`,
    inputs: Object.fromEntries(shapes.map((shape, i) => [`x${i}`, random(shape)])),
    run: (b, { t }) => [
      b.concat(
        shapes.map((_, i) => t(`x${i}`)),
        axis,
      ),
    ],
  };
}

function headsRope(rows: number, heads: number, kvHeads: number, headDim: number, norms: boolean): OpCase {
  const width = (heads + 2 * kvHeads) * headDim;
  const options = (t: (name: string) => Tensor) => ({
    heads,
    kvHeads,
    headDim,
    eps: 1e-6,
    cos: t('cos'),
    sin: t('sin'),
    ...(norms ? { qNorm: t('qNorm'), kNorm: t('kNorm') } : {}),
  });
  return {
    op: 'rope',
    name: `headsRope [${rows}, ${width}] ${heads}+2x${kvHeads} heads of ${headDim}${norms ? ' normed' : ''}`,
    inputs: {
      qkv: random([rows, width], 2),
      cos: exact([rows, headDim]),
      sin: exact([rows, headDim]),
      k: random([rows, kvHeads, headDim]),
      v: random([rows, kvHeads, headDim]),
      ...(norms ? { qNorm: random([headDim]), kNorm: random([headDim]) } : {}),
    },
    written: ['k', 'v'],
    run: (b, { t }) => [b.headsRope(t('qkv'), options(t), { k: t('k'), v: t('v') }), t('k'), t('v')],
    composite: (b, { t }) => [composites.headsRope(b, t('qkv'), options(t), { k: t('k'), v: t('v') }), t('k'), t('v')],
  };
}

const layout: readonly OpCase[] = [
  {
    op: 'layout',
    name: 'view [4, 6] as [3, 8]',
    inputs: { x: random([4, 6]) },
    run: (b, { t }) => [b.view(t('x'), [3, 8])],
  },
  slice([7, 5], 0, 2, 6),
  slice([7, 5], 1, 1, 4),
  slice([3, 6, 5, 8], 2, 1, 5),
  slice([2, 3, 64], 2, 16, 48),
  slice([4, 9], 1, 3, 3),
  permute([5, 7], [1, 0]),
  permute([3, 4, 5, 6], [3, 0, 1, 2]),
  permute([6, 3, 4, 5], [1, 2, 3, 0]),
  permute([2, 3, 4, 5], [0, 2, 1, 3]),
  permute([2, 3, 2, 4, 2, 3], [0, 1, 3, 5, 2, 4]),
  permute([4, 2, 3, 2, 3, 2, 5], [0, 1, 3, 5, 2, 4, 6]),
  permute([33, 70], [1, 0]),
  permute([3, 5, 2], [2, 1, 0], 'u8'),
  permute([3, 5, 2], [2, 0, 1], 'bf16'),
  permute([3, 5, 2], [2, 0, 1], 'i64'),
  concat(
    [
      [2, 3, 4],
      [1, 3, 4],
    ],
    0,
  ),
  concat(
    [
      [4, 3],
      [4, 1],
      [4, 9],
    ],
    1,
  ),
  concat(
    [
      [2, 3, 5, 6],
      [2, 1, 5, 6],
    ],
    1,
  ),
  concat([[3, 7]], 0),
  {
    op: 'layout',
    name: 'zeros',
    inputs: {},
    run: (b) => [b.zeros([3, 5], 'f32'), b.zeros([7], 'i32')],
  },
  ...[1, 2, 3].map(
    (factor): OpCase => ({
      op: 'layout',
      name: `upsampleNearest [2, 3, 4, 5] by ${factor}`,
      inputs: { x: random([2, 3, 4, 5]) },
      run: (b, { t }) => [b.upsampleNearest(t('x'), factor)],
    }),
  ),
  {
    op: 'layout',
    name: 'upsampleNearest [1, 5, 6, 16] by 2',
    inputs: { x: random([1, 5, 6, 16]) },
    run: (b, { t }) => [b.upsampleNearest(t('x'), 2)],
  },
];

const conversions: readonly OpCase[] = dtypes.flatMap((from) =>
  dtypes.map((to): OpCase => {
    const values = /^[iu]/.test(from) || /^[iu]/.test(to) ? whole : halves;
    return {
      op: 'cast',
      name: `cast ${from} to ${to}, and write`,
      inputs: { x: given([3, 5], values, from), dst: exact([3, 5], to) },
      written: ['dst'],
      run: (b, { t }) => {
        b.write(t('dst'), t('x'));
        return [b.cast(t('x'), to), t('dst')];
      },
    };
  }),
);

const positions: readonly OpCase[] = [
  ...[16, 30, 64, 128].map(
    (d): OpCase => ({
      op: 'rope',
      name: `rope [9, 3, ${d}]`,
      inputs: { x: random([9, 3, d]), cos: exact([9, d]), sin: exact([9, d]) },
      run: (b, { t }) => [b.rope(t('x'), t('cos'), t('sin'))],
    }),
  ),
  headsRope(7, 4, 2, 16, true),
  headsRope(13, 3, 1, 20, false),
  headsRope(5, 2, 2, 128, true),
  ...(['f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2'] as const).map(
    (dtype): OpCase => ({
      op: 'embed',
      name: `embed of a ${dtype} table`,
      inputs: { table: weight('table', [11, 13], { dtype }), ids: given([5], [0, 10, 3, 3, 7], 'i32') },
      run: (b, { t, w }) => [b.embed(w('table'), t('ids'))],
    }),
  ),
  {
    op: 'embed',
    name: 'embed of a tensor table',
    inputs: { table: random([6, 9]), ids: given([4], [5, 0, 2, 5], 'i32') },
    run: (b, { t }) => [b.embed(t('table'), t('ids'))],
  },
  ...[1, 7, 64].map(
    (c): OpCase => ({
      op: 'pointwise',
      name: `addRows [6, ${c}]`,
      inputs: { x: random([6, c]), row: random(c === 7 ? [c] : [1, c]), mask: given([6], [0, 1, 1, 0, 1, 0.5], 'f32') },
      run: (b, { t }) => [b.addRows(t('x'), t('row'), t('mask'))],
      composite: (b, { t }) => [composites.addRows(b, t('x'), t('row'), t('mask'))],
    }),
  ),
  {
    op: 'toRgb8',
    name: 'toRgb8 of halves, edges and beyond',
    inputs: { x: given([11], [-2, -1, -0.99607843, 0, 1 / 255, 3 / 255, 0.5, 0.999, 1, 1.5, -0.5]) },
    run: (b, { t }) => [b.toRgb8(t('x'))],
  },
  {
    op: 'toRgb8',
    name: 'toRgb8 [2, 5, 7, 3]',
    inputs: { x: random([2, 5, 7, 3], 1.2) },
    run: (b, { t }) => [b.toRgb8(t('x'))],
  },
];

export const layoutCases: readonly OpCase[] = [...layout, ...conversions, ...positions];
