// Cases of convolutions: 1-, 2- and 3-D, odd channel counts, groups, dilation, strides, one-sided padding, transposed.
import type { ConvOptions, DType } from '../../../src/backend/index.js';
import { type OpCase, type PartOptions, random, weight } from './op-case.js';

type Four = readonly [number, number, number, number];
type Five = readonly [number, number, number, number, number];

interface ConvCase {
  readonly x: Four;
  readonly w: Five;
  readonly bias?: boolean;
  readonly stored?: PartOptions;
  readonly options?: Omit<ConvOptions, 'bias'>;
}

function conv({ x, w, bias = false, stored = {}, options = {} }: ConvCase): OpCase {
  const shown = Object.entries(options).map(([name, value]) => ` ${name} ${JSON.stringify(value)}`);
  return {
    op: 'conv',
    name: `conv [${x.join(', ')}] by [${w.join(', ')}]${shown.join('')}${bias ? ' bias' : ''} ${stored.dtype ?? 'f32'}`,
    inputs: { x: random(x), w: weight('convolution', w, stored), ...(bias ? { bias: random([w[0]]) } : {}) },
    run: (b, o) => [b.conv(o.t('x'), o.w('w'), { ...options, ...(bias ? { bias: o.t('bias') } : {}) })],
  };
}

const same = [
  [1, 1],
  [1, 1],
  [1, 1],
] as const;
const causal = [
  [2, 0],
  [1, 1],
  [1, 1],
] as const;
const downsample = [
  [0, 0],
  [0, 1],
  [0, 1],
] as const;
const flat = (before: number, after: number) =>
  [
    [before, after],
    [0, 0],
    [0, 0],
  ] as const;

function convTranspose(rows: number, shape: readonly [number, number, number], dtype: DType, more: readonly number[]) {
  const [stride = 1, padding = 0, outputPadding = 0] = more;
  const [c, o, k] = shape;
  const built: OpCase = {
    op: 'convTranspose',
    name: `convTranspose [${rows}, ${c}] by [${shape.join(', ')}] stride ${stride} padding ${padding}+${outputPadding} ${dtype}`,
    inputs: {
      x: random([rows, c]),
      w: weight('transposed-convolution', [c, o, k], { dtype }),
      bias: random([o]),
    },
    run: (b, { t, w }) => [b.convTranspose(t('x'), w('w'), { stride, padding, outputPadding, bias: t('bias') })],
  };
  return built;
}

export const convolutionCases: readonly OpCase[] = [
  conv({ x: [1, 1, 1, 1], w: [1, 1, 1, 1, 1] }),
  conv({ x: [3, 5, 6, 7], w: [9, 7, 3, 3, 3], bias: true, options: { padding: causal } }),
  conv({ x: [4, 9, 11, 16], w: [16, 16, 3, 3, 3], options: { padding: same } }),
  conv({ x: [2, 8, 8, 12], w: [24, 12, 1, 1, 1], bias: true }),
  conv({
    x: [2, 10, 13, 3],
    w: [8, 3, 1, 3, 3],
    options: {
      padding: [
        [0, 0],
        [1, 1],
        [1, 1],
      ],
    },
  }),
  conv({ x: [2, 9, 8, 5], w: [6, 5, 1, 3, 3], bias: true, options: { padding: downsample, stride: [1, 2, 2] } }),
  conv({ x: [7, 3, 4, 6], w: [6, 6, 3, 1, 1], bias: true, options: { stride: [2, 1, 1] } }),
  conv({ x: [6, 3, 4, 10], w: [3, 10, 3, 3, 3], bias: true, options: { padding: causal } }),
  conv({
    x: [40, 1, 1, 12],
    w: [10, 12, 7, 1, 1],
    bias: true,
    options: { padding: flat(27, 27), dilation: [9, 1, 1] },
  }),
  conv({ x: [33, 1, 1, 2], w: [16, 2, 7, 1, 1], options: { padding: flat(3, 3) } }),
  conv({ x: [33, 1, 1, 8], w: [16, 8, 4, 1, 1], bias: true, options: { padding: flat(1, 1), stride: [2, 1, 1] } }),
  conv({
    x: [2, 6, 7, 12],
    w: [8, 3, 1, 3, 3],
    bias: true,
    options: {
      groups: 4,
      padding: [
        [0, 0],
        [1, 1],
        [1, 1],
      ],
    },
  }),
  conv({ x: [21, 1, 1, 9], w: [9, 1, 5, 1, 1], options: { groups: 9, padding: flat(2, 2) } }),
  conv({
    x: [3, 7, 8, 6],
    w: [10, 3, 2, 3, 2],
    options: {
      groups: 2,
      dilation: [2, 2, 3],
      padding: [
        [1, 1],
        [2, 0],
        [0, 3],
      ],
    },
  }),
  conv({
    x: [1, 19, 23, 33],
    w: [40, 33, 1, 3, 3],
    bias: true,
    options: {
      padding: [
        [0, 0],
        [1, 1],
        [1, 1],
      ],
    },
  }),
  ...(['f16', 'bf16', 'f8e4m3', 'f8e5m2'] as const).map((dtype) =>
    conv({ x: [2, 5, 6, 10], w: [12, 10, 3, 3, 3], bias: true, stored: { dtype }, options: { padding: causal } }),
  ),
  conv({
    x: [2, 5, 6, 10],
    w: [12, 10, 3, 3, 3],
    stored: { dtype: 'f8e4m3', scale: 'row' },
    options: { padding: same },
  }),
  convTranspose(1, [1, 1, 1], 'f32', [1]),
  convTranspose(13, [6, 5, 4], 'f32', [2, 1, 0]),
  convTranspose(13, [6, 5, 5], 'bf16', [2, 2, 1]),
  convTranspose(9, [16, 8, 10], 'f32', [5, 3, 1]),
  convTranspose(9, [12, 7, 3], 'f16', [4, 0, 0]),
  convTranspose(40, [33, 17, 12], 'bf16', [6, 3, 0]),
];
