// Figures over time, for sparklines.

/** Values of one figure, oldest first; null where it had none. */
export type Series = readonly (number | null)[];

/** Series by the name of their figure, all of the same length. */
export type History = Readonly<Record<string, Series>>;

/** Samples that are kept: five minutes at one in two seconds. */
export const mostSamples = 150;

/** Samples that a box has room for at least: a minute. */
const leastSpan = 30;

/** The history with one more sample. Figures that are new were null before; those that are missing are null now. */
export function addSample(history: History, sample: Readonly<Record<string, number | null>>): History {
  const length = Math.max(0, ...Object.values(history).map((series) => series.length));
  const names = new Set([...Object.keys(history), ...Object.keys(sample)]);
  return Object.fromEntries(
    [...names].map((name) => {
      const before = history[name] ?? Array.from({ length }, () => null);
      return [name, [...before, sample[name] ?? null].slice(-mostSamples)];
    }),
  );
}

/** An SVG path of a series, and the area below it. */
export interface SparkPath {
  readonly line: string;
  readonly area: string;
  /** Place of the last value, if there is one. */
  readonly last: { readonly x: number; readonly y: number } | null;
}

/**
 * Draws a series into a box; the newest value is at its right edge.
 * @param most value of the upper edge; the greatest of the series where absent
 */
export function sparkPath(series: Series, width: number, height: number, most?: number): SparkPath {
  const top = Math.max(most ?? 0, ...series.map((value) => value ?? 0)) || 1;
  // A course that has just begun fills the box sooner.
  const step = width / (Math.min(mostSamples, Math.max(leastSpan, series.length)) - 1);
  const start = width - (series.length - 1) * step;
  const runs: { x: number; y: number }[][] = [[]];
  series.forEach((value, i) => {
    if (value === null || !Number.isFinite(value)) runs.push([]);
    else runs.at(-1)?.push({ x: round(start + i * step), y: round(height - (value / top) * height) });
  });
  const drawn = runs.filter((run) => run.length > 0);
  const path = (run: readonly { x: number; y: number }[]) =>
    run.map(({ x, y }, i) => `${i ? 'L' : 'M'}${x} ${y}`).join('');
  const isLastKnown = (series.at(-1) ?? null) !== null;
  return {
    line: drawn.map(path).join(''),
    area: drawn.map((run) => `${path(run)}L${run.at(-1)?.x} ${height}L${run[0]?.x} ${height}Z`).join(''),
    last: isLastKnown ? (drawn.at(-1)?.at(-1) ?? null) : null,
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
