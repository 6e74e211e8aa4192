// The least time that a step or a decode can take on an H200: its products, attention and convolutions alone, each at the rate that
// NVIDIA's own libraries reach there for that size. Source: performance spec, M.

/** Sizes of one pass through the generation tower. */
export interface PassSizes {
  readonly layers: number;
  /** Operations of a layer's matrices per row. */
  readonly linearFlops: number;
  /** Operations of a layer's attention per query and key. */
  readonly pairFlops: number;
  /** Generated rows. */
  readonly rows: number;
  /** Text keys of each branch that runs. */
  readonly texts: readonly number[];
}

export interface PassWork {
  readonly linear: number;
  readonly attention: number;
}

/** Operations of one step: all branches. */
export function stepWork({ layers, linearFlops, pairFlops, rows, texts }: PassSizes): PassWork {
  return {
    linear: layers * linearFlops * rows * texts.length,
    attention: texts.reduce((sum, text) => sum + layers * pairFlops * rows * (rows + text), 0),
  };
}

const tera = 1e12;

/** Measured rates by the least number of rows they hold for, operations per second, largest first. */
const rates = {
  bf16: [
    [20_000, 742 * tera],
    [0, 659 * tera],
  ],
  fp8: [
    [20_000, 1473 * tera],
    [3000, 1404 * tera],
    [0, 1138 * tera],
  ],
  attention: [
    [20_000, 554 * tera],
    [0, 531 * tera],
  ],
} as const;

const convolutionRate = 700 * tera;

function rateFor(kind: keyof typeof rates, rows: number): number {
  return rates[kind].find(([least]) => rows >= least)?.[1] ?? rates[kind][0][1];
}

/** Seconds of a step. */
export function stepFloor(sizes: PassSizes, format: 'bf16' | 'fp8'): number {
  const { linear, attention } = stepWork(sizes);
  return linear / rateFor(format, sizes.rows) + attention / rateFor('attention', sizes.rows);
}

/** Seconds of a decode of so many operations. */
export function decodeFloor(flops: number): number {
  return flops / convolutionRate;
}
