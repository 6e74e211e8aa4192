// Cases worth timing: shapes as networks have them. Too slow for the oracle, so that they are run on devices only.
import { exact, type OpCase, random, weight } from './op-case.js';

const same = [
  [1, 1],
  [1, 1],
  [1, 1],
] as const;

export const timingCases: readonly OpCase[] = [
  {
    op: 'matmul',
    name: 'matmul [1024, 1024] x [1024, 1024] bf16',
    inputs: { x: random([1024, 1024]), w: weight('matrix', [1024, 1024], { dtype: 'bf16' }) },
    run: (b, { t, w }) => [b.matmul(t('x'), w('w'))],
  },
  {
    op: 'matmul',
    name: 'matmul [1, 2048] x [2048, 2048] bf16',
    inputs: { x: random([1, 2048]), w: weight('matrix', [2048, 2048], { dtype: 'bf16' }) },
    run: (b, { t, w }) => [b.matmul(t('x'), w('w'))],
  },
  {
    op: 'attention',
    name: 'attention q [1024, 16, 128]',
    inputs: { q: random([1024, 16, 128]), k: random([1024, 16, 128]), v: random([1024, 16, 128]) },
    run: (b, { t }) => [b.attention(t('q'), [{ k: t('k'), v: t('v') }])],
  },
  {
    op: 'conv',
    name: 'conv [4, 60, 104, 96] by [96, 96, 3, 3, 3]',
    inputs: { x: random([4, 60, 104, 96]), w: weight('convolution', [96, 96, 3, 3, 3]) },
    run: (b, { t, w }) => [b.conv(t('x'), w('w'), { padding: same })],
  },
  {
    op: 'norm',
    name: 'rmsNorm [4, 120, 208, 96] silu',
    inputs: { x: random([4, 120, 208, 96]), weight: random([96]) },
    run: (b, { t }) => [b.rmsNorm(t('x'), t('weight'), { eps: 1e-6, activation: 'silu' })],
  },
  {
    op: 'layout',
    name: 'permute [4, 120, 208, 96] to channels first',
    inputs: { x: random([4, 120, 208, 96]) },
    run: (b, { t }) => [b.permute(t('x'), [3, 0, 1, 2])],
  },
  {
    op: 'layout',
    name: 'upsampleNearest [4, 60, 104, 96] by 2',
    inputs: { x: random([4, 60, 104, 96]) },
    run: (b, { t }) => [b.upsampleNearest(t('x'), 2)],
  },
  {
    op: 'rope',
    name: 'headsRope [1024, 4096] 16+2x8 heads of 128',
    inputs: {
      qkv: random([1024, 4096]),
      cos: exact([1024, 128]),
      sin: exact([1024, 128]),
      norm: random([128]),
      k: random([1024, 8, 128]),
      v: random([1024, 8, 128]),
    },
    run: (b, { t }) => {
      const norms = { qNorm: t('norm'), kNorm: t('norm'), cos: t('cos'), sin: t('sin') };
      const options = { heads: 16, kvHeads: 8, headDim: 128, eps: 1e-6, ...norms };
      return [b.headsRope(t('qkv'), options, { k: t('k'), v: t('v') })];
    },
  },
  {
    op: 'pointwise',
    name: 'swiglu [1024, 8192]',
    inputs: { x: random([1024, 8192]) },
    run: (b, { t }) => [b.swiglu(t('x'))],
  },
];
