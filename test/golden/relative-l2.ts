/** `||actual - expected|| / ||expected||`, in float64. Throws where the lengths differ. */
export function relativeL2(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (actual.length !== expected.length) throw new Error(`${actual.length} values against ${expected.length}`);
  let error = 0;
  let norm = 0;
  for (let i = 0; i < expected.length; i++) {
    const wanted = expected[i] as number;
    error += ((actual[i] as number) - wanted) ** 2;
    norm += wanted ** 2;
  }
  return Math.sqrt(error / norm);
}
