// Which denoise steps reuse a velocity instead of computing one. Source: performance spec, A.6.

/** An entry of a list that does nothing, and why. */
export interface IgnoredEntry {
  readonly entry: string;
  readonly reason: string;
}

/** A list as it takes effect. */
export interface SkipList {
  /** Sorted. */
  readonly steps: readonly number[];
  readonly ignored: readonly IgnoredEntry[];
}

/**
 * Reads a list such as `3,5,7`. The first step has no velocity before it and the last one is always computed, so that
 * 1 … N-2 can be skipped; entries beside those do nothing, and are named.
 * @param steps N, the steps of the run
 */
export function readSkipList(list: string | readonly number[], steps: number): SkipList {
  const entries = typeof list === 'string' ? splitList(list) : list.map(String);
  const taken = new Set<number>();
  const ignored: IgnoredEntry[] = [];
  for (const entry of entries) {
    const reason = whyIgnored(entry, steps, taken);
    if (reason === null) taken.add(Number(entry));
    else ignored.push({ entry, reason });
  }
  return { steps: [...taken].sort((a, b) => a - b), ignored };
}

function splitList(text: string): string[] {
  return text.trim() === '' ? [] : text.split(',').map((entry) => entry.trim());
}

function whyIgnored(entry: string, steps: number, taken: ReadonlySet<number>): string | null {
  if (entry === '') return 'nothing stands between two commas';
  if (!/^\d+$/.test(entry)) return 'no step number';
  const step = Number(entry);
  if (step === 0) return 'the first step has no velocity before it';
  if (step >= steps) return `the run has steps 0 to ${steps - 1}`;
  if (step === steps - 1) return 'the last step is always computed';
  return taken.has(step) ? 'listed twice' : null;
}

/** `entry 9 (the last step is always computed), …` */
export function describeIgnored(ignored: readonly IgnoredEntry[]): string {
  return ignored.map(({ entry, reason }) => `${entry === '' ? 'an empty entry' : entry} (${reason})`).join(', ');
}
