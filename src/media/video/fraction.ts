// Frame rates as fractions, which is how containers store them.

export interface Fraction {
  readonly numerator: number;
  readonly denominator: number;
}

/**
 * The fraction nearest to a positive finite `value` with a denominator of at most `limit` (10000 by default), by
 * continued fractions: 23.976023976… becomes 24000/1001. Throws RangeError for any other value.
 */
export function toFraction(value: number, limit = 10000): Fraction {
  if (!Number.isFinite(value) || value <= 0) throw new RangeError(`${value} is not a positive finite rate`);
  let [previous, current] = [
    [0, 1],
    [1, 0],
  ] as [[number, number], [number, number]];
  let rest = value;
  for (let step = 0; step < 64; step++) {
    const whole = Math.floor(rest);
    const next: [number, number] = [whole * current[0] + previous[0], whole * current[1] + previous[1]];
    if (next[1] > limit) return nearer(value, previous, current, limit);
    [previous, current] = [current, next];
    const part = rest - whole;
    if (Math.abs(value - next[0] / next[1]) <= value * 1e-14 || part === 0) break;
    rest = 1 / part;
  }
  return { numerator: current[0], denominator: current[1] };
}

/** The better of the last convergent and the largest semiconvergent within the limit. */
function nearer(value: number, previous: [number, number], current: [number, number], limit: number): Fraction {
  const times = Math.floor((limit - previous[1]) / current[1]);
  const semi: [number, number] = [previous[0] + times * current[0], previous[1] + times * current[1]];
  const takesCurrent = Math.abs(current[0] / current[1] - value) <= Math.abs(semi[0] / semi[1] - value);
  const [numerator, denominator] = takesCurrent ? current : semi;
  return { numerator, denominator };
}

/** In lowest terms. Both must be positive integers. */
export function reduced(numerator: number, denominator: number): Fraction {
  let [a, b] = [numerator, denominator];
  while (b > 0) [a, b] = [b, a % b];
  return { numerator: numerator / a, denominator: denominator / a };
}

/** As ffmpeg's `-r` takes it. */
export function fractionText({ numerator, denominator }: Fraction): string {
  return `${numerator}/${denominator}`;
}

/**
 * The exact rate behind one printed with two decimals: 29.97 is 30000/1001, 23.98 is 24000/1001, 12.5 is itself.
 */
export function ratePrintedAs(value: number): Fraction {
  const nominal = Math.ceil(value);
  const broadcast = (nominal * 1000) / 1001;
  if (!Number.isInteger(value) && Math.abs(broadcast - value) < 0.006) return reduced(nominal * 1000, 1001);
  return toFraction(value);
}
