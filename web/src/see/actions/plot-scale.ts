// Scales, ticks and lines of a plot.

/** Lowest and highest value of a plot; never equal. */
export interface Extent {
  readonly low: number;
  readonly high: number;
}

/** The extent of all values, with a tenth of it as margin. Equal values get half a unit on both sides. */
export function extentOf(values: Iterable<number>): Extent {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return { low: 0, high: 1 };
  const margin = high - low < 1e-9 ? 0.5 : (high - low) / 10;
  return { low: low - margin, high: high + margin };
}

/** Round values inside the extent, about `count` of them: multiples of 1, 2 or 5 times a power of ten. */
export function ticksOf({ low, high }: Extent, count: number): readonly number[] {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)) + 0);
}

/** The place of a value between `from` (the low end) and `to`. */
export function scaleTo(value: number, { low, high }: Extent, from: number, to: number): number {
  return from + ((value - low) / (high - low)) * (to - from);
}

/** An SVG path through the points; values that are no numbers break the line. */
export function linePath(points: Iterable<{ readonly x: number; readonly y: number }>): string {
  let path = '';
  let isDrawing = false;
  for (const { x, y } of points) {
    if (!Number.isFinite(y)) {
      isDrawing = false;
      continue;
    }
    path += `${isDrawing ? 'L' : 'M'}${round(x)} ${round(y)}`;
    isDrawing = true;
  }
  return path;
}

/** The row that a frame belongs to, and back. Row i leads from frame i to frame i + 1 where there is one frame more than rows. */
export function rowOfFrame(frame: number, rows: number, frames: number): number {
  const offset = frames > rows ? 1 : 0;
  return Math.max(0, Math.min(rows - 1, frame - offset));
}

/** The frame that a row leads to. */
export function frameOfRow(row: number, rows: number, frames: number): number {
  const offset = frames > rows ? 1 : 0;
  return Math.max(0, Math.min(frames - 1, row + offset));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
