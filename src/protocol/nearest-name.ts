// The known name that an unknown one was probably meant to be.

/**
 * Nearest of `names` by edits (insertion, deletion, change, swap of neighbours), or undefined when none is within a third of its length.
 * Upper and lower case, and `-` and `_`, are the same.
 */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const wanted = normalise(name);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of names) {
    const distance = countEdits(wanted, normalise(candidate));
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

function normalise(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

function countEdits(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
