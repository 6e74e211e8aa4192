// UniPC (Zhao et al. 2023, arXiv 2302.04867) for flow-matching networks, worked out in advance as a table of coefficients.
import { type Combination, combine, type SolverTable, type StepCombinations, toSolverTable } from './solver-table.js';

export interface UniPcOptions {
  /** [N+1] strictly falling, inside (0, 1) except the last, which is 0: see `flowSigmas` and `karrasSigmas`. */
  readonly sigmas: Float32Array;
  /** Order of the multistep predictor, 1 … 3; published checkpoints: 2. */
  readonly order: number;
  /** The function B(h) of the paper: `bh1` is h, `bh2` is exp(h) - 1; published checkpoints: `bh2`. */
  readonly solverType: 'bh1' | 'bh2';
}

/**
 * Table of UniPC with data prediction (m = x - sigma v). Step i first corrects x_i with the order of the previous predictor (i > 0),
 * then predicts x_{i+1} with order min(order, N - i, i + 1). The last step gives the data prediction itself.
 * @throws RangeError for an order outside 1 … 3 or sigmas that do not fall strictly from below 1 to 0.
 */
export function unipcTable({ sigmas, order, solverType }: UniPcOptions): SolverTable {
  if (!Number.isInteger(order) || order < 1 || order > 3)
    throw new RangeError(`the solver order is ${order}; UniPC here has orders 1, 2 and 3`);
  if (solverType !== 'bh1' && solverType !== 'bh2')
    throw new RangeError(`the solver type is ${String(solverType)}; it must be bh1 or bh2`);
  requireFalling(sigmas);
  const count = sigmas.length - 1;
  // Half the log of the signal-to-noise ratio, up to a constant: lambda = ln(alpha / sigma).
  const lambdas = Array.from(sigmas, (sigma) => Math.log((1 - sigma) / sigma));
  const orderAt = (i: number) => Math.min(order, count - i, i + 1);

  const steps = Array.from({ length: count }, (_, i): StepCombinations => {
    const data: Combination = { sample: 1, velocity: -(sigmas[i] as number) };
    let corrected: Combination = { sample: 1 };
    if (i > 0) {
      const older = history.slice(1, orderAt(i - 1)).map((past, k) => ({ index: i - 2 - k, data: past }));
      corrected = advance(sigmas, lambdas, solverType, {
        from: { index: i - 1, data: { data1: 1 } },
        sample: { corrected: 1 },
        points: [...older, { index: i, data }],
      });
    }
    if (i === count - 1) return { next: data, corrected, data };
    const older = history.slice(0, orderAt(i) - 1).map((past, k) => ({ index: i - 1 - k, data: past }));
    const next = advance(sigmas, lambdas, solverType, { from: { index: i, data }, sample: corrected, points: older });
    return { next, corrected, data };
  });
  return toSolverTable(steps, false);
}

/** m_{i-1}, m_{i-2}, m_{i-3} at step i. */
const history: readonly Combination[] = [{ data1: 1 }, { data2: 1 }, { data3: 1 }];

/** A data prediction and the index of the sigma it was made at. */
interface DataPoint {
  readonly index: number;
  readonly data: Combination;
}

interface Advance {
  /** Start of the interval and the data prediction there; the interval ends at the next index. */
  readonly from: DataPoint;
  /** The sample at the start. */
  readonly sample: Combination;
  /** Other data predictions: older ones, and for the corrector the one at the interval's end, last. */
  readonly points: readonly DataPoint[];
}

/**
 * The sample at the end of one interval: the paper's predictor UniP with older points alone, its corrector UniC with the end point too.
 * sigma_end / sigma_start x - alpha_end phi1 m - alpha_end B sum of weight_k (m_k - m) / r_k, where r_k is point k's place in the interval.
 */
function advance(
  sigmas: Float32Array,
  lambdas: readonly number[],
  solverType: UniPcOptions['solverType'],
  { from, sample, points }: Advance,
): Combination {
  const end = from.index + 1;
  const lambda = lambdas[from.index] as number;
  const h = (lambdas[end] as number) - lambda;
  const phi1 = Math.expm1(-h);
  const b = solverType === 'bh2' ? phi1 : -h;
  const alpha = 1 - (sigmas[end] as number);
  const ratios = points.map(({ index }) => ((lambdas[index] as number) - lambda) / h);
  const weights = points.length === 1 ? [0.5] : solve(vandermonde(ratios), moments(points.length, -h, b));
  return combine([
    [(sigmas[end] as number) / (sigmas[from.index] as number), sample],
    [-alpha * phi1, from.data],
    ...points.flatMap(({ data }, k): [number, Combination][] => {
      const weight = (-alpha * b * (weights[k] as number)) / (ratios[k] as number);
      return [
        [weight, data],
        [-weight, from.data],
      ];
    }),
  ]);
}

/** Matrix of r_k^j, row j. */
function vandermonde(ratios: readonly number[]): number[][] {
  return ratios.map((_, j) => ratios.map((ratio) => ratio ** j));
}

/** Right side of the order conditions: j! hh phi_{j+1}(hh) / B for j = 1 … count, where phi_1 = expm1(hh) / hh, phi_{k+1} = (phi_k - 1/k!) / hh. */
function moments(count: number, hh: number, b: number): number[] {
  const values: number[] = [];
  let phi = Math.expm1(hh) / hh;
  let factorial = 1;
  for (let j = 1; j <= count; j++) {
    factorial *= j;
    const scaled = phi - 1 / factorial;
    values.push((factorial * scaled) / b);
    phi = scaled / hh;
  }
  return values;
}

/** Solves a square system of at most 3 unknowns by Gaussian elimination with row pivoting. */
function solve(matrix: readonly number[][], right: readonly number[]): number[] {
  const rows = matrix.map((row, j) => [...row, right[j] as number]);
  const size = rows.length;
  for (let column = 0; column < size; column++) {
    const pivots = rows.slice(column).sort((p, q) => Math.abs(q[column] as number) - Math.abs(p[column] as number));
    rows.splice(column, pivots.length, ...pivots);
    const pivot = rows[column] as number[];
    for (const row of rows.slice(column + 1)) {
      const factor = (row[column] as number) / (pivot[column] as number);
      for (let k = column; k <= size; k++) row[k] = (row[k] as number) - factor * (pivot[k] as number);
    }
  }
  const solution = new Array<number>(size).fill(0);
  for (let j = size - 1; j >= 0; j--) {
    const row = rows[j] as number[];
    let rest = row[size] as number;
    for (let k = j + 1; k < size; k++) rest -= (row[k] as number) * (solution[k] as number);
    solution[j] = rest / (row[j] as number);
  }
  return solution;
}

function requireFalling(sigmas: Float32Array): void {
  if (sigmas.length < 2)
    throw new RangeError(`${sigmas.length} sigmas make no step; give one per step and a final 0 (see flowSigmas)`);
  sigmas.forEach((sigma, index) => {
    const last = index === sigmas.length - 1;
    const above = index === 0 ? 1 : (sigmas[index - 1] as number);
    if (last ? sigma !== 0 : !(sigma > 0 && sigma < above)) {
      const wanted = last ? '0, since it is the last' : `above 0 and below ${above}`;
      throw new RangeError(`sigma ${index} of ${sigmas.length} is ${sigma}; it must be ${wanted}; take fewer steps`);
    }
  });
}
