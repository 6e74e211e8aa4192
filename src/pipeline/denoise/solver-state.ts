// What a sampler keeps of one modality between steps, in device memory, and the step itself: three weighted sums.
import type { Backend, Tensor } from '../../backend/index.js';
import { type SolverTable, solverInputs, solverOutputs } from '../../schedulers/index.js';
import { writeRows } from './session/write-rows.js';
import type { Target } from './targets.js';

/** Device tensors of one modality, all of the latents' shape, float32. */
export interface SolverState {
  readonly sample: Tensor;
  readonly corrected: Tensor;
  readonly data: readonly [Tensor, Tensor, Tensor];
  /** Fresh noise of this step, for stochastic samplers. */
  readonly noise: Tensor;
  readonly pinned: { readonly mask: Tensor; readonly clean: Tensor } | null;
}

/** The table's rows as `linearCombination` reads them, one table per output, `[steps, 7]`. */
export interface SolverTables {
  readonly next: Tensor;
  readonly corrected: Tensor;
  readonly data: Tensor;
}

/** Tables with room for so many steps, all zeros. */
export function newSolverTables(b: Backend, steps: number): SolverTables {
  const empty = () => b.zeros([steps, solverInputs.length], 'f32');
  return { next: empty(), corrected: empty(), data: empty() };
}

/** Puts a sampler's table in. */
export function writeSolverTables(b: Backend, to: SolverTables, table: SolverTable): void {
  const columns = solverInputs.length;
  const rows = solverOutputs.length;
  for (const [output, name] of solverOutputs.entries()) {
    const values = new Float32Array(table.steps * columns);
    for (let step = 0; step < table.steps; step++) {
      const start = (step * rows + output) * columns;
      values.set(table.coefficients.subarray(start, start + columns), step * columns);
    }
    writeRows(b, to[name], values);
  }
}

/** What a sampler keeps of one target, all zeros. */
export function newSolverState(b: Backend, { item, mask, clean }: Target, stochastic: boolean): SolverState {
  const zeros = () => b.zeros(item.shape, 'f32');
  const sample = zeros();
  return {
    sample,
    corrected: zeros(),
    data: [zeros(), zeros(), zeros()],
    noise: stochastic ? zeros() : sample,
    pinned: mask && clean ? { mask: zeros(), clean: zeros() } : null,
  };
}

/** Moves one modality from step i to i + 1, given its velocity; pins the clean values again. */
export function solveStep(b: Backend, state: SolverState, tables: SolverTables, velocity: Tensor, step: Tensor): void {
  const { sample, corrected, data, noise, pinned } = state;
  const terms = [sample, velocity, corrected, ...data, noise]; // the order of `solverInputs`
  const combine = (coefficients: Tensor) => {
    const out = b.zeros(sample.shape, 'f32');
    b.linearCombination(out, { terms, coefficients, step });
    return out;
  };
  const [next, newCorrected, newData] = [combine(tables.next), combine(tables.corrected), combine(tables.data)];
  b.write(data[2], data[1]);
  b.write(data[1], data[0]);
  b.write(data[0], newData);
  b.write(corrected, newCorrected);
  b.write(sample, pinned ? b.add(b.multiply(next, pinned.mask), pinned.clean) : next);
}
