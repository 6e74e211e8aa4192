// What a sampler keeps of one modality between steps, in device memory, and the step itself: three weighted sums.
import { type Backend, type Tensor, uploadFloats } from '../../backend/index.js';

import { type SolverTable, solverInputs, solverOutputs } from '../../schedulers/index.js';
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

export function uploadSolverTables(b: Backend, table: SolverTable): SolverTables {
  const columns = solverInputs.length;
  const rows = solverOutputs.length;
  const [next, corrected, data] = solverOutputs.map((_, output) => {
    const values = new Float32Array(table.steps * columns);
    for (let step = 0; step < table.steps; step++) {
      const start = (step * rows + output) * columns;
      values.set(table.coefficients.subarray(start, start + columns), step * columns);
    }
    return uploadFloats(b, values, [table.steps, columns]);
  });
  return { next, corrected, data } as SolverTables;
}

export function newSolverState(b: Backend, target: Target, latents: Float32Array, stochastic: boolean): SolverState {
  const { shape } = target.item;
  const zeros = () => b.zeros(shape, 'f32');
  const sample = uploadFloats(b, latents, shape);
  return {
    sample,
    corrected: zeros(),
    data: [zeros(), zeros(), zeros()],
    noise: stochastic ? zeros() : sample,
    pinned:
      target.mask && target.clean
        ? { mask: uploadFloats(b, target.mask, shape), clean: uploadFloats(b, target.clean, shape) }
        : null,
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
