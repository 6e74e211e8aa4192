// Guidance as weights: which branches run at a step and how their velocities are combined. Every rule is linear, so a step
// needs one weighted sum. Source: api spec, sections 2.8 and 3.2.
import type { PlannedGuidance } from '../plan-types.js';
import type { Interval } from '../request.js';

/** `cond`: the prompt, with the controls if there are any; `no-control`: the prompt alone; `uncond`: the negative prompt. */
export const branchNames = ['cond', 'no-control', 'uncond'] as const;
export type BranchName = (typeof branchNames)[number];

export type BranchWeights = Readonly<Record<BranchName, number>>;

function isInside(interval: Interval | null, timestep: number): boolean {
  return interval === null || (timestep >= interval[0] && timestep <= interval[1]);
}

/** Whether text guidance can ever be on. */
export function usesTextGuidance(guidance: PlannedGuidance): boolean {
  return guidance.scale > 1;
}

/**
 * Weights of the branches at one timestep (0 to 1000, intervals closed). They sum to one:
 * `u + g (n + c (f - n) - u)` with f = cond, n = no-control, u = uncond.
 */
export function branchWeights(guidance: PlannedGuidance, timestep: number, hasControls: boolean): BranchWeights {
  const text = usesTextGuidance(guidance) && isInside(guidance.interval, timestep);
  const controlled = hasControls && guidance.controlScale !== 1 && isInside(guidance.controlInterval, timestep);
  const g = text ? guidance.scale : 1;
  const c = controlled ? guidance.controlScale : 1;
  return { cond: g * c, 'no-control': g * (1 - c), uncond: 1 - g };
}

/** The branches that a run needs at some step, in the order they are evaluated. */
export function neededBranches(guidance: PlannedGuidance, timesteps: Float32Array, hasControls: boolean): BranchName[] {
  const rows = Array.from(timesteps, (timestep) => branchWeights(guidance, timestep, hasControls));
  return branchNames.filter((name) => name === 'cond' || rows.some((row) => row[name] !== 0));
}
