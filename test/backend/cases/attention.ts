// Cases of attention: head sizes, groups, causal order, several key segments, lengths that limit them.
import type { KeySegment } from '../../../src/backend/index.js';
import { given, type OpCase, type Operands, random, type TensorInput } from './op-case.js';

interface Sizes {
  readonly rows: number;
  readonly heads: number;
  readonly groups: number;
  readonly d: number;
  /** Rows of each key segment, or rows and how many of them count. */
  readonly keys: readonly (number | readonly [number, number])[];
  readonly causal?: boolean;
  readonly scale?: number;
  readonly size?: number;
}

function segmentsOf({ t }: Operands, keys: Sizes['keys']): KeySegment[] {
  return keys.map((rows, i) => ({
    k: t(`k${i}`),
    v: t(`v${i}`),
    ...(typeof rows === 'number' ? {} : { length: t(`length${i}`) }),
  }));
}

function attention(sizes: Sizes): OpCase {
  const { rows, heads, groups, d, keys, causal, scale, size = 1 } = sizes;
  const inputs: Record<string, TensorInput> = { q: random([rows, heads, d], 2 * size) };
  keys.forEach((item, i) => {
    const [count, length] = typeof item === 'number' ? [item, null] : item;
    inputs[`k${i}`] = random([count, groups, d], 2 * size);
    inputs[`v${i}`] = random([count, groups, d]);
    if (length !== null) inputs[`length${i}`] = given([1], [length], 'i32');
  });
  const shown = keys.map((item) => (typeof item === 'number' ? item : `${item[1]}/${item[0]}`)).join('+');
  return {
    op: 'attention',
    name: `attention q [${rows}, ${heads}, ${d}] groups ${groups} keys ${shown}${causal ? ' causal' : ''}${scale ? ` scale ${scale}` : ''}`,
    inputs,
    run: (b, operands) => [
      b.attention(operands.t('q'), segmentsOf(operands, keys), {
        ...(causal ? { causal } : {}),
        ...(scale ? { scale } : {}),
      }),
    ],
  };
}

export const attentionCases: readonly OpCase[] = [
  ...[16, 24, 32, 64, 80, 96, 128].map((d) => attention({ rows: 37, heads: 4, groups: 2, d, keys: [53] })),
  attention({ rows: 1, heads: 1, groups: 1, d: 16, keys: [1] }),
  attention({ rows: 1, heads: 8, groups: 1, d: 64, keys: [130] }),
  attention({ rows: 130, heads: 2, groups: 2, d: 32, keys: [259] }),
  attention({ rows: 5, heads: 3, groups: 3, d: 18, keys: [9] }),
  attention({ rows: 70, heads: 4, groups: 2, d: 32, keys: [70], causal: true }),
  attention({ rows: 1, heads: 2, groups: 1, d: 16, keys: [1], causal: true }),
  attention({ rows: 133, heads: 2, groups: 1, d: 64, keys: [133], causal: true }),
  attention({ rows: 19, heads: 4, groups: 4, d: 16, keys: [19, 7] }),
  attention({ rows: 33, heads: 4, groups: 2, d: 64, keys: [33, [128, 41]] }),
  attention({ rows: 33, heads: 4, groups: 1, d: 32, keys: [65, [128, 128], [64, 1]] }),
  attention({ rows: 6, heads: 2, groups: 2, d: 16, keys: [10, [8, 0]] }),
  attention({ rows: 20, heads: 2, groups: 1, d: 16, keys: [[20, 13]], causal: true }),
  attention({ rows: 9, heads: 2, groups: 2, d: 32, keys: [300], scale: 0.5 }),
  // Scores of several hundred: exp overflows unless the largest is taken off first.
  attention({ rows: 9, heads: 2, groups: 2, d: 32, keys: [200], scale: 20, size: 2 }),
];
