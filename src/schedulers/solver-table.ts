// The common form of every sampler: one small matrix per step, known before the first step is taken.

/**
 * Columns of a step's matrix, the inputs of step i:
 * - `sample`: the current sample x_i as the previous step predicted it (the initial noise at step 0);
 * - `velocity`: the network's output at x_i and sigma_i, after guidance;
 * - `corrected`: the corrected x_{i-1};
 * - `data1`, `data2`, `data3`: the data predictions m_{i-1}, m_{i-2}, m_{i-3};
 * - `noise`: fresh standard normal noise, drawn for this step.
 */
export const solverInputs = ['sample', 'velocity', 'corrected', 'data1', 'data2', 'data3', 'noise'] as const;

/**
 * Rows of a step's matrix, the outputs of step i:
 * - `next`: the predicted x_{i+1}, the next step's `sample`;
 * - `corrected`: the corrected x_i, the next step's `corrected`;
 * - `data`: the data prediction m_i, the next step's `data1` (data1 moves to data2, data2 to data3).
 */
export const solverOutputs = ['next', 'corrected', 'data'] as const;

export type SolverInput = (typeof solverInputs)[number];
export type SolverOutput = (typeof solverOutputs)[number];

/** Numbers in one step's matrix: 3 rows of 7. */
export const solverStepSize = solverOutputs.length * solverInputs.length;

/**
 * A sampler as coefficients: every output of a step is a linear combination of its inputs, elementwise.
 * All history is zero before step 0. A coefficient of zero means that the input is not read at all,
 * so that what it holds, even a NaN, has no effect.
 */
export interface SolverTable {
  /** Number of steps N. */
  readonly steps: number;
  /** [N, 3, 7], rows as `solverOutputs`, columns as `solverInputs`; computed in float64, rounded once. */
  readonly coefficients: Float32Array;
  /** Whether steps take noise: if so it is drawn at every step, at the last one too, where its coefficient is zero. */
  readonly stochastic: boolean;
}

/** A combination of inputs while a table is being built, in float64; inputs that are not named count zero. */
export type Combination = Readonly<Partial<Record<SolverInput, number>>>;

/** One step's three outputs. */
export type StepCombinations = Readonly<Record<SolverOutput, Combination>>;

/** Sum of weight times combination over all terms, in float64. */
export function combine(terms: readonly (readonly [weight: number, of: Combination])[]): Combination {
  const sum: Partial<Record<SolverInput, number>> = {};
  for (const [weight, of] of terms) {
    for (const input of solverInputs) {
      const coefficient = of[input];
      if (coefficient !== undefined) sum[input] = (sum[input] ?? 0) + weight * coefficient;
    }
  }
  return sum;
}

/**
 * Lays the steps out as a table.
 * @throws RangeError when a coefficient is not finite: the sigmas do not suit the solver.
 */
export function toSolverTable(steps: readonly StepCombinations[], stochastic: boolean): SolverTable {
  const coefficients = new Float32Array(steps.length * solverStepSize);
  let at = 0;
  steps.forEach((step, index) => {
    for (const output of solverOutputs) {
      for (const input of solverInputs) {
        const value = step[output][input] ?? 0;
        if (!Number.isFinite(value)) {
          throw new RangeError(
            `the coefficient of ${input} in ${output} at step ${index} is ${value}; choose sigmas that differ from step to step`,
          );
        }
        coefficients[at++] = value === 0 ? 0 : value;
      }
    }
  });
  return { steps: steps.length, coefficients, stochastic };
}
