// The sampler of a plan as numbers: sigmas, timesteps and one small matrix per step.
import {
  fixedSigmas,
  flowEulerTable,
  flowSigmas,
  karrasSigmas,
  type Sigmas,
  type SolverTable,
  unipcTable,
} from '../../schedulers/index.js';
import type { Plan, PlannedSchedule } from '../plan-types.js';

export interface Schedule extends Sigmas {
  readonly table: SolverTable;
}

/** @throws RangeError for values that `plan` would have refused. */
export function makeSchedule({ schedule, steps }: Pick<Plan, 'schedule' | 'steps'>): Schedule {
  const grid = spaced(schedule, steps);
  const table =
    schedule.solver === 'flow-euler'
      ? flowEulerTable(grid.sigmas)
      : unipcTable({ sigmas: grid.sigmas, order: schedule.order, solverType: schedule.variant });
  return { ...grid, table };
}

function spaced(schedule: PlannedSchedule, steps: number): Sigmas {
  if (schedule.solver === 'flow-euler') return fixedSigmas(schedule.sigmas);
  if (schedule.grid === 'karras')
    return karrasSigmas({ steps, ...(schedule.karras ?? { sigmaMin: 0.01, sigmaMax: 200 }) });
  return flowSigmas({ steps, shift: schedule.flowShift, grid: schedule.grid });
}

export { flowSigmas, karrasSigmas, NoiseGenerator, solverInputs, unipcTable } from '../../schedulers/index.js';
