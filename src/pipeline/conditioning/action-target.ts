// The action rows of a run: which are given, and the columns a domain does not use. Source: api spec, 3.4 and 3.5.

import type { Target } from '../denoise/targets.js';
import type { PlannedAction } from '../plan-types.js';

/** Rows `[rows, dim]`; given rows are clean, columns from `rawDim` on are zero throughout. */
export function actionTarget(action: PlannedAction, dim: number): Target {
  const { rows, rawDim, given, fps, offset } = action;
  const mask = new Float32Array(rows * dim);
  const clean = new Float32Array(rows * dim);
  for (let row = 0; row < rows; row++) {
    const values = given[row];
    if (values) clean.set(values, row * dim);
    else mask.fill(1, row * dim, row * dim + rawDim);
  }
  return {
    item: { kind: 'action', shape: [rows, dim], fps, offset },
    cleanFrames: given.map((_, row) => row),
    mask,
    clean,
  };
}

/** The rows of the result: history dropped, columns cut to the domain's. */
export function actionRows(action: PlannedAction, latents: Float32Array, dim: number): number[][] {
  return Array.from({ length: action.rows - action.historyRows }, (_, i) => {
    const start = (action.historyRows + i) * dim;
    return Array.from(latents.subarray(start, start + action.rawDim));
  });
}
