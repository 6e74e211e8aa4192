// Actions as a table of comma-separated values (RFC 4180).
import { frameOfRow } from './plot-scale.js';

/** What the table is made from. */
export interface ActionTable {
  /** `[steps][numbers]`, float32. */
  readonly rows: readonly (readonly number[])[];
  /** One for each number of a row. */
  readonly labels: readonly string[];
  /** Of the clip beside them; 0 where there is none. */
  readonly frames: number;
  /** Rows per second; 0 where unknown, which leaves the time column empty. */
  readonly fps: number;
}

/** The table with a header: step, frame and second that a row leads to, and its numbers. */
export function actionCsv({ rows, labels, frames, fps }: ActionTable): string {
  const header = ['step', 'frame', 'seconds', ...labels].map(quoteCell).join(',');
  const lines = rows.map((row, step) => {
    const frame = frames === 0 ? step : frameOfRow(step, rows.length, frames);
    const seconds = fps > 0 ? String(Number((frame / fps).toFixed(6))) : '';
    return [step, frame, seconds, ...row.map(shortFloat)].join(',');
  });
  return `${[header, ...lines].join('\r\n')}\r\n`;
}

/** The shortest decimal that reads back as the same float32. */
export function shortFloat(value: number): string {
  const wanted = Math.fround(value);
  if (!Number.isFinite(wanted)) return '';
  for (let digits = 1; digits < 10; digits++) {
    const text = wanted.toPrecision(digits);
    if (Math.fround(Number(text)) === wanted) return String(Number(text));
  }
  return String(wanted);
}

function quoteCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
