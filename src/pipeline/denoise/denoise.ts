// The denoise loop: a generator that yields after every step. It does not know which task it runs: branches, segments and
// guidance are data. Source: spec, section 4; design, section 4 "one graph per step".
import { type Backend, disposeTensors, type Graph, type Tensor, uploadFloats } from '../../backend/index.js';
import {
  embedTimesteps,
  type GenContext,
  type GenSegment,
  planWideSteps,
  predictVelocity,
  type Transformer,
} from '../../models/cosmos3-transformer/index.js';
import type { Networks } from '../networks.js';
import type { PlannedGuidance } from '../plan-types.js';
import { type BranchName, branchWeights } from './guidance.js';
import type { Schedule } from './schedule.js';
import type { SkipTable } from './skip.js';
import { newSolverState, type SolverState, solveStep, uploadSolverTables } from './solver-state.js';
import { StepPace } from './step-pace.js';
import { drawNoise, type NoiseSource, type Target } from './targets.js';

/** One pass through the generation tower: its text, and the segments given the current samples. */
export interface Branch {
  readonly name: BranchName;
  readonly context: GenContext;
  readonly segments: (samples: readonly Tensor[]) => readonly GenSegment[];
}

export interface DenoiseInput {
  readonly targets: readonly Target[];
  readonly branches: readonly Branch[];
  /** Initial latents of the targets. */
  readonly latents: readonly Float32Array[];
  readonly schedule: Schedule;
  readonly guidance: PlannedGuidance;
  readonly hasControls: boolean;
  readonly skip: SkipTable;
  /** Goes on drawing where the initial latents ended, for stochastic samplers. */
  readonly noise: NoiseSource;
  /** Keep each branch's own velocities, for comparison with a reference. */
  readonly keepBranchVelocities?: boolean;
}

/** State after a step. The tensors are overwritten by the next one. */
export interface DenoiseStep {
  /** 0-based. */
  readonly step: number;
  readonly skipped: boolean;
  /** One per target. */
  readonly samples: readonly Tensor[];
  /** What the result would be by this step's velocity, one per target. Clean frames are not put in. */
  readonly estimates: readonly Tensor[];
  /** By branch, one per target; only with `keepBranchVelocities`, and only branches that ran. */
  readonly velocities: ReadonlyMap<BranchName, readonly Tensor[]>;
}

/** Runs all steps; whatever it made on the device is freed when it ends or is left. */
export async function* denoise(
  { backend: b, transformer }: Networks,
  input: DenoiseInput,
): AsyncGenerator<DenoiseStep, void> {
  const { schedule, skip, targets } = input;
  const { steps, stochastic } = schedule.table;
  const scaled = schedule.timesteps.map((t) => Math.fround(t * transformer.config.timestepScale));
  const loop: Loop = {
    b,
    timestepRows: embedTimesteps(b, transformer.timestep, scaled), // [N, D]
    tables: uploadSolverTables(b, schedule.table),
    skipCoefficients: uploadFloats(b, skip.coefficients, [steps, 2]),
    step: b.zeros([1], 'i32'),
    states: targets.map((target, i) => newSolverState(b, target, input.latents[i] ?? new Float32Array(), stochastic)),
    velocity: targets.map(({ item }) => b.zeros(item.shape, 'f32')),
    previous: targets.map(({ item }) => b.zeros(item.shape, 'f32')),
    kept: new Map(),
    graphs: new Map(),
    owned: [],
  };
  try {
    yield* runSteps(loop, transformer, input);
  } finally {
    const { timestepRows, tables, skipCoefficients, step, states, velocity, previous, owned } = loop;
    for (const graph of loop.graphs.values()) graph[Symbol.dispose]();
    disposeTensors([
      timestepRows,
      tables.next,
      tables.corrected,
      tables.data,
      skipCoefficients,
      step,
      velocity,
      previous,
      owned,
    ]);
    for (const { sample, corrected, data, noise, pinned } of states)
      disposeTensors([sample, corrected, data, noise, pinned]);
  }
}

async function* runSteps(loop: Loop, transformer: Transformer, input: DenoiseInput): AsyncGenerator<DenoiseStep, void> {
  const { b, graphs } = loop;
  const { schedule, skip, targets } = input;
  const { steps, stochastic } = schedule.table;
  const samples = loop.states.map((state) => state.sample);
  const estimates = loop.states.map((state) => state.data[0]);
  const pace = new StepPace(b);
  const wideSteps = planWideSteps(transformer.quantization, steps);
  for (let step = 0; step < steps; step++) {
    setStep(loop, step);
    if (stochastic) for (const [i, { item }] of targets.entries()) refreshNoise(loop, i, drawNoise(item, input.noise));
    const skipped = skip.skipped[step] ?? false;
    const weights = branchWeights(input.guidance, schedule.timesteps[step] ?? 0, input.hasControls);
    const active = skipped ? [] : input.branches.filter(({ name }) => weights[name] !== 0);
    const wide = (wideSteps[step] ?? false) && !skipped;
    const key = `${active.map(({ name }) => name).join('+')}${wide ? ', wide' : ''}`;
    const graph = graphs.get(key) ?? captureStep(loop, { active, wide, transformer, input });
    graphs.set(key, graph);
    graph.replay();
    await pace.next();
    const velocities = new Map([...loop.kept].filter(([name]) => active.some((branch) => branch.name === name)));
    yield { step, skipped, samples, estimates, velocities };
  }
}

interface Loop {
  readonly b: Backend;
  readonly timestepRows: Tensor;
  readonly tables: ReturnType<typeof uploadSolverTables>;
  readonly skipCoefficients: Tensor;
  readonly step: Tensor;
  readonly states: readonly SolverState[];
  /** Combined velocity of the last computed step, and of the one before it. */
  readonly velocity: readonly Tensor[];
  readonly previous: readonly Tensor[];
  readonly kept: Map<BranchName, readonly Tensor[]>;
  /** One captured step per set of branches. */
  readonly graphs: Map<string, Graph>;
  readonly owned: unknown[];
}

function setStep({ b, step }: Loop, value: number): void {
  b.scope(() => {
    b.write(step, b.upload({ shape: [1], dtype: 'i32', bytes: new Uint8Array(Int32Array.of(value).buffer) }));
    return null;
  });
}

function refreshNoise({ b, states }: Loop, index: number, noise: Float32Array): void {
  const state = states[index];
  if (!state) return;
  b.scope(() => {
    b.write(state.noise, uploadFloats(b, noise, state.noise.shape));
    return null;
  });
}

interface StepVariant {
  /** Empty: the step is skipped. */
  readonly active: readonly Branch[];
  /** Without quantised rows. */
  readonly wide: boolean;
  readonly transformer: Transformer;
  readonly input: DenoiseInput;
}

function captureStep(loop: Loop, variant: StepVariant): Graph {
  const { b } = loop;
  const { active, wide, transformer, input } = variant;
  if (active.length === 0) return b.capture(() => standIn(loop));
  const { timesteps } = input.schedule;
  const table = new Float32Array(timesteps.length * active.length);
  for (const [step, timestep] of timesteps.entries()) {
    const row = branchWeights(input.guidance, timestep, input.hasControls);
    for (const [i, { name }] of active.entries()) table[step * active.length + i] = row[name];
  }
  const coefficients = uploadFloats(b, table, [timesteps.length, active.length]);
  loop.owned.push(coefficients);
  if (input.keepBranchVelocities) for (const { name } of active) keepVelocities(loop, name);
  return b.capture(() => computeStep(loop, { coefficients, active, wide, transformer }));
}

function keepVelocities({ b, kept, velocity, owned }: Loop, name: BranchName): void {
  if (kept.has(name)) return;
  const copies = velocity.map(({ shape }) => b.zeros(shape, 'f32'));
  kept.set(name, copies);
  owned.push(copies);
}

function computeStep(
  loop: Loop,
  { coefficients, active, wide, transformer }: Omit<StepVariant, 'input'> & { readonly coefficients: Tensor },
): void {
  const { b, step, states, velocity, previous, kept } = loop;
  const row = b.embed(loop.timestepRows, step); // [1, D]
  const samples = states.map((state) => state.sample);
  const outputs = active.map(({ name, context, segments }) => {
    const predicted = predictVelocity(b, transformer, segments(samples), context, row, { wide });
    for (const [i, keep] of (kept.get(name) ?? []).entries()) b.write(keep, predicted[i] as Tensor);
    return predicted;
  });
  for (const [i, state] of states.entries()) {
    const combined = velocity[i] as Tensor;
    b.write(previous[i] as Tensor, combined);
    b.linearCombination(combined, { terms: outputs.map((branch) => branch[i] as Tensor), coefficients, step });
    solveStep(b, state, loop.tables, combined, step);
  }
}

function standIn({ b, step, states, velocity, previous, skipCoefficients, tables }: Loop): void {
  for (const [i, state] of states.entries()) {
    const terms = [velocity[i] as Tensor, previous[i] as Tensor];
    const estimate = b.zeros(state.sample.shape, 'f32');
    b.linearCombination(estimate, { terms, coefficients: skipCoefficients, step });
    solveStep(b, state, tables, estimate, step);
  }
}
