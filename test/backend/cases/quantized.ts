// Cases of FP8: quantisation row by row, alone and fused, and products of quantised rows with FP8 weights.
import * as composites from '../../../src/backend/composites.js';
import type { QuantizedRows } from '../../../src/backend/index.js';
import { given, inFormat, merged, type OpCase, type PartOptions, random, weight } from './op-case.js';

const parts = ({ values, scales }: QuantizedRows) => [values, scales];
const eps = 1e-6;

function quantizeRows(shape: readonly number[], size = 3): OpCase {
  return {
    op: 'cast',
    name: `quantizeRows [${shape.join(', ')}] within ${size}`,
    needs: 'fp8',
    inputs: { x: random(shape, size) },
    run: (b, { t }) => parts(b.quantizeRows(t('x'))),
  };
}

function norms(rows: number, c: number): readonly OpCase[] {
  const inputs = { x: random([rows, c], 3), y: random([rows, c], 2), weight: random([c]) };
  return [
    {
      op: 'norm',
      name: `addNorm [${rows}, ${c}]`,
      inputs,
      run: (b, { t }) => {
        const { sum, normed } = b.addNorm(t('x'), t('y'), t('weight'), eps);
        return [sum, normed];
      },
      composite: (b, { t }) => {
        const { sum, normed } = composites.addNorm(b, t('x'), t('y'), t('weight'), eps);
        return [sum, normed];
      },
    },
    {
      op: 'quantize',
      name: `quantizedNorm [${rows}, ${c}]`,
      needs: 'fp8',
      inputs,
      run: (b, { t }) => parts(b.quantizedNorm(t('x'), t('weight'), eps)),
      composite: (b, { t }) => parts(composites.quantizedNorm(b, t('x'), t('weight'), eps)),
    },
    {
      op: 'quantize',
      name: `quantizedAddNorm [${rows}, ${c}]`,
      needs: 'fp8',
      inputs,
      run: (b, { t }) => {
        const { sum, normed } = b.quantizedAddNorm(t('x'), t('y'), t('weight'), eps);
        return [sum, ...parts(normed)];
      },
      composite: (b, { t }) => {
        const { sum, normed } = composites.quantizedAddNorm(b, t('x'), t('y'), t('weight'), eps);
        return [sum, ...parts(normed)];
      },
    },
  ];
}

function swiglu(rows: number, width: number): OpCase {
  return {
    op: 'quantize',
    name: `quantizedSwiglu [${rows}, ${2 * width}]`,
    needs: 'fp8',
    inputs: { x: random([rows, 2 * width], 4) },
    run: (b, { t }) => parts(b.quantizedSwiglu(t('x'))),
    composite: (b, { t }) => parts(composites.quantizedSwiglu(b, t('x'))),
  };
}

interface ProductCase extends PartOptions {
  readonly bias?: boolean;
  /** Rows of `x` are plain: the weight counts as the numbers it stands for. */
  readonly wide?: boolean;
}

function product(
  m: readonly number[],
  n: number,
  k: number,
  { bias = false, wide = false, ...part }: ProductCase = {},
): OpCase {
  const { dtype = 'bf16', scale } = part;
  const traits = [
    dtype,
    ...(scale ? [`a scale per ${scale}`] : []),
    ...(bias ? ['bias'] : []),
    ...(wide ? ['wide rows'] : []),
  ];
  return {
    op: 'matmul',
    name: `fp8 matmul [${m.join(', ')}, ${k}] x [${n}, ${k}] from ${traits.join(', ')}`,
    needs: 'fp8',
    inputs: {
      x: random([...m, k]),
      w: inFormat('fp8', weight('matrix', [n, k], { ...part, dtype })),
      ...(bias ? { bias: random([n]) } : {}),
    },
    run: (b, { t, w }) => [b.matmul(wide ? t('x') : b.quantizeRows(t('x')), w('w'), bias ? { bias: t('bias') } : {})],
  };
}

export const quantizedCases: readonly OpCase[] = [
  quantizeRows([1, 1]),
  quantizeRows([5, 33]),
  quantizeRows([2, 3, 64], 1e-3),
  quantizeRows([3, 4096], 900),
  {
    op: 'cast',
    name: 'quantizeRows of zeros beside large and small numbers',
    needs: 'fp8',
    inputs: {
      x: given(
        [3, 8],
        [...new Array<number>(8).fill(0), 448, -1, 0.5, 3, 0.01, 27, 1e-3, -448, 1e-4, 0, 0, 0, 0, 0, 0, -2e-7],
      ),
    },
    run: (b, { t }) => parts(b.quantizeRows(t('x'))),
  },
  ...norms(1, 1),
  ...norms(5, 33),
  ...norms(9, 256),
  ...norms(3, 4096),
  ...[7, 64, 3072].map((width) => swiglu(5, width)),
  product([9], 37, 51),
  product([16], 16, 16),
  product([33], 96, 608, { bias: true }),
  product([2, 5], 32, 64, { dtype: 'f32' }),
  product([5], 48, 32, { dtype: 'f16' }),
  product([7], 32, 64, { dtype: 'f8e4m3', scale: 'row' }),
  product([7], 24, 40, { dtype: 'f8e4m3', scale: 'part', bias: true }),
  product([7], 32, 64, { dtype: 'f8e5m2', scale: 'row' }),
  product([0], 16, 32),
  product([33], 96, 608, { bias: true, wide: true }),
  product([9], 37, 51, { wide: true }),
  {
    op: 'matmul',
    name: 'fp8 matmul on merged parts, stored and made, with rows used twice',
    needs: 'fp8',
    inputs: {
      x: random([11, 64]),
      w: inFormat(
        'fp8',
        merged([32, 16, 16], 64, [
          { dtype: 'bf16' },
          { dtype: 'f8e4m3', scale: 'row' },
          { dtype: 'f8e4m3', scale: 'part' },
        ]),
      ),
      v: inFormat('fp8', weight('matrix', [32, 64], { dtype: 'bf16' })),
    },
    run: (b, { t, w }) => {
      const rows = b.quantizeRows(t('x'));
      return [b.matmul(rows, w('w')), b.matmul(rows, w('v'))];
    },
  },
];
