// Cases of matmul: odd sizes, batches, every stored dtype, merged parts.
import type { DType } from '../../../src/backend/index.js';
import { merged, type OpCase, random, weight } from './op-case.js';

const stored: readonly DType[] = ['f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2'];

function matmul(m: readonly number[], n: number, k: number, dtype: DType = 'f32', bias = false): OpCase {
  return {
    op: 'matmul',
    name: `matmul [${m.join(', ')}, ${k}] x [${n}, ${k}] ${dtype}${bias ? ' bias' : ''}`,
    inputs: {
      x: random([...m, k]),
      w: weight('matrix', [n, k], dtype.startsWith('f8') ? { dtype, scale: 'row' } : { dtype }),
      ...(bias ? { bias: random([n]) } : {}),
    },
    run: (b, { t, w }) => [b.matmul(t('x'), w('w'), bias ? { bias: t('bias') } : {})],
  };
}

export const productCases: readonly OpCase[] = [
  matmul([1], 1, 1),
  matmul([3], 5, 7),
  matmul([1], 64, 64, 'f32', true),
  matmul([8], 8, 8),
  matmul([17], 33, 65, 'f32', true),
  matmul([64], 64, 64),
  matmul([130], 70, 257, 'f32', true),
  matmul([5], 300, 19),
  matmul([2, 3], 10, 12, 'f32', true),
  matmul([40], 24, 1100),
  matmul([0], 4, 8),
  ...stored.flatMap((dtype) => [matmul([9], 37, 51, dtype), matmul([33], 96, 600, dtype, true)]),
  {
    op: 'matmul',
    name: 'matmul on merged bf16 parts',
    inputs: {
      x: random([11, 48]),
      w: merged([13, 6, 6], 48, [{ dtype: 'bf16' }, { dtype: 'bf16' }, { dtype: 'bf16' }]),
    },
    run: (b, { t, w }) => [b.matmul(t('x'), w('w'))],
  },
  {
    op: 'matmul',
    name: 'matmul on merged f8 parts with different scales',
    inputs: {
      x: random([7, 64]),
      w: merged([32, 5], 64, [
        { dtype: 'f8e4m3', scale: 'part' },
        { dtype: 'f8e4m3', scale: 'row' },
      ]),
      bias: random([37]),
    },
    run: (b, { t, w }) => [b.matmul(t('x'), w('w'), { bias: t('bias') })],
  },
  {
    op: 'matmul',
    name: 'matmul on f8 without scale',
    inputs: { x: random([3, 16]), w: weight('matrix', [4, 16], { dtype: 'f8e5m2' }) },
    run: (b, { t, w }) => [b.matmul(t('x'), w('w'))],
  },
  {
    op: 'matmul',
    name: 'matmul on a slice of rows',
    inputs: { x: random([10, 21]), w: weight('matrix', [9, 21]) },
    run: (b, { t, w }) => [b.matmul(b.slice(t('x'), 0, 3, 8), w('w'))],
  },
];
