// The room's door.
export { flowEulerTable } from './flow-euler.js';
export { NoiseGenerator } from './generator.js';
export {
  type FlowGrid,
  type FlowSigmasOptions,
  fixedSigmas,
  flowSigmas,
  type KarrasSigmasOptions,
  karrasSigmas,
  type Sigmas,
} from './sigmas.js';
export {
  type SolverInput,
  type SolverOutput,
  type SolverTable,
  solverInputs,
  solverOutputs,
  solverStepSize,
} from './solver-table.js';
export { type UniPcOptions, unipcTable } from './unipc.js';
