// Cases large enough that a device splits them into many tiles, with sizes that leave the last tile ragged.
import { exact, type OpCase, random, weight } from './op-case.js';

const same = [
  [1, 1],
  [1, 1],
  [1, 1],
] as const;

export const largeCases: readonly OpCase[] = [
  {
    op: 'matmul',
    name: 'matmul [517, 300] x [523, 300] bf16 in many tiles',
    inputs: { x: random([517, 300]), w: weight('matrix', [523, 300], { dtype: 'bf16' }), bias: random([523]) },
    run: (b, { t, w }) => [b.matmul(t('x'), w('w'), { bias: t('bias') })],
  },
  {
    op: 'matmul',
    name: 'matmul [3, 700] x [2051, 700] in many tiles',
    inputs: { x: random([3, 700]), w: weight('matrix', [2051, 700]) },
    run: (b, { t, w }) => [b.matmul(t('x'), w('w'))],
  },
  {
    op: 'attention',
    name: 'attention q [205, 4, 64] on 590 and 77 keys in many tiles',
    inputs: {
      q: random([205, 4, 64], 2),
      k: random([590, 2, 64], 2),
      v: random([590, 2, 64]),
      k1: random([77, 2, 64], 2),
      v1: random([77, 2, 64]),
    },
    run: (b, { t }) => [
      b.attention(t('q'), [
        { k: t('k'), v: t('v') },
        { k: t('k1'), v: t('v1') },
      ]),
    ],
  },
  {
    op: 'attention',
    name: 'attention q [333, 2, 32] causal in many tiles',
    inputs: { q: random([333, 2, 32], 2), k: random([333, 1, 32], 2), v: random([333, 1, 32]) },
    run: (b, { t }) => [b.attention(t('q'), [{ k: t('k'), v: t('v') }], { causal: true })],
  },
  {
    op: 'conv',
    name: 'conv [3, 17, 19, 30] by [34, 30, 3, 3, 3] in many tiles',
    inputs: { x: random([3, 17, 19, 30]), w: weight('convolution', [34, 30, 3, 3, 3]), bias: random([34]) },
    run: (b, { t, w }) => [b.conv(t('x'), w('w'), { padding: same, bias: t('bias') })],
  },
  {
    op: 'convTranspose',
    name: 'convTranspose [300, 20] by [20, 18, 8] in many tiles',
    inputs: { x: random([300, 20]), w: weight('transposed-convolution', [20, 18, 8]) },
    run: (b, { t, w }) => [b.convTranspose(t('x'), w('w'), { stride: 4, padding: 2, outputPadding: 0 })],
  },
  {
    op: 'norm',
    name: 'norms of [211, 259] in many tiles',
    inputs: { x: random([211, 259]), weight: random([259]) },
    run: (b, { t }) => [
      b.rmsNorm(t('x'), t('weight'), { eps: 1e-6, activation: 'silu' }),
      b.layerNorm(t('x'), t('weight'), null, 1e-6),
    ],
  },
  {
    op: 'pointwise',
    name: 'pointwise ops on [211, 258] in many tiles',
    inputs: { x: random([211, 258], 3), y: random([211, 258]), row: random([258]), mask: exact([211]) },
    run: (b, { t }) => [
      b.add(t('x'), t('y')),
      b.multiply(t('x'), t('row')),
      b.activation(t('x'), 'gelu'),
      b.swiglu(t('x')),
      b.snake(t('x'), t('row'), t('row')),
      b.mean(t('x')),
      b.addRows(t('x'), t('row'), t('mask')),
    ],
  },
  {
    op: 'rope',
    name: 'rope [301, 3, 32] in many tiles',
    inputs: { x: random([301, 3, 32]), cos: exact([301, 32]), sin: exact([301, 32]) },
    run: (b, { t }) => [b.rope(t('x'), t('cos'), t('sin'))],
  },
  {
    op: 'layout',
    name: 'layout ops on [9, 31, 37, 20] in many tiles',
    inputs: { x: random([9, 31, 37, 20]) },
    run: (b, { t }) => [
      b.permute(t('x'), [3, 0, 1, 2]),
      b.permute(t('x'), [0, 3, 2, 1]),
      b.permute(t('x'), [2, 0, 1, 3]),
      b.slice(t('x'), 3, 3, 18),
      b.slice(t('x'), 1, 3, 30),
      b.concat([t('x'), t('x')], 3),
      b.upsampleNearest(t('x'), 2),
    ],
  },
];
