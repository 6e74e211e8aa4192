// Figures with what chance leaves open, and the bars they are held against.

/** One measured figure. */
export interface Figure {
  readonly task: string;
  readonly measure: string;
  readonly value: number;
  /** Bounds of the 95 % confidence interval. */
  readonly low: number;
  readonly high: number;
  readonly count: number;
  readonly unit: '%' | 'dB' | 'R²' | 'IoU';
  /** What the figure should reach: at least, or at most where `atMost`. */
  readonly bar: number | null;
  readonly atMost: boolean;
}

interface Named {
  readonly task: string;
  readonly measure: string;
  readonly bar?: number;
  readonly atMost?: boolean;
  readonly unit?: Figure['unit'];
}

/** Share of true values with Wilson's interval, in per cent. */
export function shareOf(named: Named, values: readonly boolean[]): Figure {
  const n = values.length;
  const p = n === 0 ? Number.NaN : values.filter(Boolean).length / n;
  const z = 1.96;
  const middle = (p + z ** 2 / (2 * n)) / (1 + z ** 2 / n);
  const half = (z / (1 + z ** 2 / n)) * Math.sqrt((p * (1 - p)) / n + z ** 2 / (4 * n ** 2));
  return { ...complete(named, '%'), value: 100 * p, low: 100 * (middle - half), high: 100 * (middle + half), count: n };
}

/** Mean with its normal interval. */
export function meanOf(named: Named, values: readonly number[]): Figure {
  const n = values.length;
  const mean = values.reduce((sum, v) => sum + v, 0) / n;
  const spread = Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / Math.max(n - 1, 1));
  const half = (1.96 * spread) / Math.sqrt(n);
  return { ...complete(named, named.unit ?? '%'), value: mean, low: mean - half, high: mean + half, count: n };
}

/** A figure of `count` cases with the middle 95 % of what it was on cases drawn again. */
export function resampled(named: Named, value: number, again: readonly number[], count: number): Figure {
  const sorted = [...again].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] as number;
  return { ...complete(named, named.unit ?? '%'), value, low: at(0.025), high: at(0.975), count };
}

function complete({ task, measure, bar, atMost = false }: Named, unit: Figure['unit']) {
  return { task, measure, bar: bar ?? null, atMost, unit };
}

/** Whether a figure reaches its bar; null where it has none. */
export function reaches({ value, bar, atMost }: Figure): boolean | null {
  if (bar === null) return null;
  return atMost ? value <= bar : value >= bar;
}

/** A table to print. */
export function formatFigures(figures: readonly Figure[]): string {
  const digits = (unit: Figure['unit']) => (unit === '%' || unit === 'dB' ? 1 : 3);
  const rows = figures.map((figure) => {
    const show = (v: number) => v.toFixed(digits(figure.unit));
    const unit = figure.unit === '%' ? ' %' : figure.unit === 'dB' ? ' dB' : '';
    const bar = figure.bar === null ? '' : `${figure.atMost ? '<=' : '>='} ${figure.bar}${unit}`;
    const verdict = reaches(figure);
    return [
      figure.task,
      figure.measure,
      `${show(figure.value)}${unit}`,
      `${show(figure.low)} … ${show(figure.high)}`,
      String(figure.count),
      bar,
      verdict === null ? '' : verdict ? 'reached' : 'missed',
    ];
  });
  const table = [['task', 'measure', 'value', '95 % interval', 'n', 'bar', ''], ...rows];
  const widths = (table[0] as string[]).map((_, c) => Math.max(...table.map((row) => (row[c] as string).length)));
  return table
    .map((row) =>
      row
        .map((cell, c) => cell.padEnd(widths[c] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
