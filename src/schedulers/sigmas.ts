// Noise levels and timesteps of a sampling run: the flow grids, Karras' spacing, and the fixed lists of distilled checkpoints.

/** Noise levels of N steps. A sample at sigma is (1 - sigma) * data + sigma * noise. */
export interface Sigmas {
  /** [N+1] in 1 … 0, falling; the last is 0. */
  readonly sigmas: Float32Array;
  /** [N] what the network is told: 1000 * sigma, whole numbers except for fixed lists. */
  readonly timesteps: Float32Array;
}

/** Timesteps that the networks were trained on. */
const trainTimesteps = 1000;

/** Which end points the flow grid has; see `flowSigmas`. */
export type FlowGrid = 'native' | 'linspace';

export interface FlowSigmasOptions {
  /** Number of steps N, at least 1. */
  readonly steps: number;
  /** Flow shift S > 0; 1 leaves the grid as it is, more spends more steps at high noise. */
  readonly shift: number;
  readonly grid: FlowGrid;
}

/**
 * Flow-matching sigmas. Base grid s of N points: `native` runs from 1 - 1/1000 towards 0, `linspace` from 1 towards 1/1000,
 * each without its end point; then shift s / (1 + (shift - 1) s), and a final 0.
 * Computed in float64, rounded to float32; timesteps are 1000 sigma (float64) truncated.
 * @throws RangeError for steps that are no whole number >= 1 or a shift that is not a finite number > 0.
 */
export function flowSigmas({ steps, shift, grid }: FlowSigmasOptions): Sigmas {
  requireSteps(steps);
  requirePositive('shift', shift);
  const [first, end] = grid === 'native' ? [1 - 1 / trainTimesteps, 0] : [1, 1 / trainTimesteps];
  const levels = spaced(first, end, steps + 1)
    .slice(0, steps)
    .map((s) => (shift * s) / (1 + (shift - 1) * s));
  // At sigma = 1 there is no data left and lambda = ln((1 - sigma) / sigma) would be infinite.
  const top = levels[0] as number;
  if (Math.abs(top - 1) < 1e-6) levels[0] = top - 1e-6;
  return truncatedTimesteps(levels);
}

export interface KarrasSigmasOptions {
  /** Number of steps N, at least 1. */
  readonly steps: number;
  /** Smallest and largest noise level in variance-exploding terms, 0 < sigmaMin <= sigmaMax (0.01 and 200 in published configurations). */
  readonly sigmaMin: number;
  readonly sigmaMax: number;
}

/**
 * Karras' spacing (Karras et al. 2022, eq. 5, rho = 7) between two noise levels, turned into flow sigmas by s / (s + 1); a final 0.
 * @throws RangeError for steps below 1 or levels that are not 0 < sigmaMin <= sigmaMax.
 */
export function karrasSigmas({ steps, sigmaMin, sigmaMax }: KarrasSigmasOptions): Sigmas {
  requireSteps(steps);
  requirePositive('sigmaMin', sigmaMin);
  requirePositive('sigmaMax', sigmaMax);
  if (sigmaMin > sigmaMax)
    throw new RangeError(`sigmaMin ${sigmaMin} is above sigmaMax ${sigmaMax}; give the smaller one as sigmaMin`);
  const rho = 7;
  const low = sigmaMin ** (1 / rho);
  const high = sigmaMax ** (1 / rho);
  const levels = spaced(0, 1, steps).map((ramp) => {
    const sigma = (high + ramp * (low - high)) ** rho;
    return sigma / (sigma + 1);
  });
  return truncatedTimesteps(levels);
}

/**
 * The sigmas a distilled checkpoint was trained on, as listed; a final 0 is added unless the list has it. Timesteps are not truncated.
 * @throws RangeError for an empty list, or one that does not fall strictly within 1 … 0.
 */
export function fixedSigmas(list: readonly number[]): Sigmas {
  const levels = list.at(-1) === 0 ? list.slice(0, -1) : [...list];
  if (levels.length === 0) throw new RangeError('the list of sigmas is empty; give at least one value in (0, 1]');
  levels.forEach((sigma, index) => {
    const above = index === 0 ? 1 : (levels[index - 1] as number);
    const falls = index === 0 ? sigma <= 1 : sigma < above;
    if (!(sigma > 0 && falls))
      throw new RangeError(
        `sigma ${index} of the list is ${sigma}; it must be above 0 and ${index === 0 ? 'at most 1' : `below ${above}`}`,
      );
  });
  return { sigmas: withFinalZero(levels), timesteps: Float32Array.from(levels, (sigma) => sigma * trainTimesteps) };
}

function truncatedTimesteps(levels: readonly number[]): Sigmas {
  return {
    sigmas: withFinalZero(levels),
    timesteps: Float32Array.from(levels, (sigma) => Math.trunc(sigma * trainTimesteps)),
  };
}

function withFinalZero(levels: readonly number[]): Float32Array {
  return Float32Array.from([...levels, 0]);
}

/** `count` points from `first` to `end`, both included, each as index * step + first, which decides the last bit. */
function spaced(first: number, end: number, count: number): number[] {
  const step = count > 1 ? (end - first) / (count - 1) : 0;
  return Array.from({ length: count }, (_, index) => index * step + first);
}

function requireSteps(steps: number): void {
  if (!Number.isSafeInteger(steps) || steps < 1)
    throw new RangeError(`the number of steps is ${steps}; it must be a whole number of at least 1`);
}

function requirePositive(name: string, value: number): void {
  if (!(value > 0 && Number.isFinite(value)))
    throw new RangeError(`${name} is ${value}; it must be a finite number above 0`);
}
