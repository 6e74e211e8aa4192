// Writing to the terminal: results on stdout, everything else on stderr.

/** Writes a line of results. */
export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Writes a line about the work. */
export function printNote(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Seconds for people: `4.2 s`, `3 min 05 s`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** Rows as columns of equal width. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
