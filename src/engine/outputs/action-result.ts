// Actions of a result in the form that clients of the original interface read.
import type { Plan } from '../../pipeline/plan-types.js';

/** `[T][D]` with its description. */
export interface ActionResult {
  readonly data: readonly (readonly number[])[];
  readonly shape: readonly [steps: number, numbers: number];
  readonly dtype: 'float32';
  readonly raw_action_dim: number;
  readonly action_mode: string;
  readonly domain_id: number;
}

/** Describes the action rows of a plan; null where the plan makes none. */
export function describeActions(plan: Plan, rows: readonly (readonly number[])[] | null): ActionResult | null {
  if (plan.action === null || rows === null) return null;
  const { rawDim, mode, domain } = plan.action;
  return {
    data: rows,
    shape: [rows.length, rawDim],
    dtype: 'float32',
    raw_action_dim: rawDim,
    action_mode: mode.replaceAll('-', '_'),
    domain_id: domain,
  };
}
