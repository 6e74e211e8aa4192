// Recorded steps of one layout and the memory they work on. A kept session serves runs whose texts, conditions, schedule and
// guidance differ: they are written into it, and what was recorded stays. Design, section 4 "one graph per step".
import { allOrNothing, type Backend, disposeTensors, type Graph, type Tensor } from '../../../backend/index.js';
import {
  firstLayerInput,
  type GenContext,
  predictVelocities,
  type Transformer,
} from '../../../models/cosmos3-transformer/index.js';
import type { PlannedStepCache } from '../../plan-types.js';
import type { Branch, Conditions } from '../conditions.js';
import { type BranchName, branchWeights } from '../guidance.js';
import { ChangeMeter } from '../reuse/change-meter.js';
import type { GuidanceWork } from '../reuse/guidance-reuse.js';
import { solveStep } from '../solver-state.js';
import { bytesOf, mostSteps, SessionMemory, type SessionRun } from './session-memory.js';
import { TextSlot } from './text-slot.js';
import { writeRows } from './write-rows.js';

/** Branches of together at most so many rows go through the products at once; more rows fill a device anyway. */
export const mostJoinedRows = 4096;

export interface SessionOptions {
  /** Serves later runs too: texts get places of their own, and the conditions are taken over. */
  readonly isKept: boolean;
  readonly stochastic: boolean;
  /** Branches of together at most so many rows go together; `mostJoinedRows` where absent. */
  readonly joinedRows?: number | undefined;
  /** Keeps each branch's own velocities. */
  readonly keepsVelocities: boolean;
}

/** What a computed step does. */
export interface StepVariant {
  /** Branches that run, the conditional one first. */
  readonly active: readonly BranchName[];
  /** Without quantised rows. */
  readonly wide: boolean;
  readonly guidance: GuidanceWork;
}

interface Recorded {
  readonly graph: Graph;
  readonly variant: StepVariant;
  /** Weights of the branches `[steps, branches]`. */
  readonly weights: Tensor;
}

type TextRole = 'positive' | 'negative';
const roleOf = (name: BranchName): TextRole => (name === 'uncond' ? 'negative' : 'positive');

export class StepSession implements Disposable {
  readonly memory: SessionMemory;
  readonly #b: Backend;
  readonly #transformer: Transformer;
  readonly #conditions: Conditions;
  readonly #taken: Disposable | null;
  readonly #joinedRows: number;
  readonly #slots = new Map<TextRole, TextSlot>();
  readonly #contexts = new Map<BranchName, GenContext>();
  /** By branch, of the last computed step; only where asked for. */
  readonly velocities = new Map<BranchName, readonly Tensor[]>();
  readonly #recorded = new Map<string, Recorded>();
  readonly #meters = new Map<PlannedStepCache['kind'], ChangeMeter>();
  #standIn: Graph | null = null;
  /** What guidance added when it was last computed, by target. */
  #added: readonly Tensor[] | null = null;
  #run: SessionRun | null = null;

  /** Makes the memory, or nothing where it does not fit; a step is recorded when it is first run. */
  static open(b: Backend, transformer: Transformer, conditions: Conditions, options: SessionOptions): StepSession {
    return allOrNothing(b, (own) => {
      const session = new StepSession(b, transformer, conditions, options);
      own(session.memory.tensors);
      return session;
    }).result;
  }

  private constructor(b: Backend, transformer: Transformer, conditions: Conditions, options: SessionOptions) {
    const { targets, branches } = conditions;
    this.#b = b;
    this.#transformer = transformer;
    this.#conditions = conditions;
    this.#joinedRows = options.joinedRows ?? mostJoinedRows;
    this.memory = new SessionMemory(b, transformer.config.hidden, targets, options.stochastic);
    for (const { name, context } of branches) {
      const role = roleOf(name);
      const slot = options.isKept ? (this.#slots.get(role) ?? new TextSlot(b, context.text)) : null;
      if (slot) this.#slots.set(role, slot);
      this.#contexts.set(name, slot ? { ...context, text: slot.kv } : context);
      if (options.keepsVelocities)
        this.velocities.set(
          name,
          targets.map(({ item }) => this.memory.keep(b.zeros(item.shape, 'f32'))),
        );
    }
    for (const slot of this.#slots.values()) for (const tensor of slot.tensors) this.memory.keep(tensor);
    this.#taken = options.isKept ? conditions.handOver() : null;
  }

  /** Device memory it holds, without what recorded steps share. */
  get bytes(): number {
    const meters = [...this.#meters.values()].flatMap((meter) => meter.tensors);
    return bytesOf([...this.memory.tensors, ...meters, ...(this.#taken ? this.#conditions.tensors : [])]);
  }

  /** How many steps are recorded. */
  get graphs(): number {
    return this.#recorded.size + this.#meters.size + (this.#standIn ? 1 : 0);
  }

  /** Puts a run of the session's layout in place. */
  begin(run: SessionRun): void {
    const b = this.#b;
    this.#run = run;
    const { conditions, schedule, stepCache } = run;
    if (conditions !== this.#conditions)
      for (const [i, tensor] of this.#conditions.tensors.entries()) b.write(tensor, conditions.tensors[i] as Tensor);
    for (const { name, context } of conditions.branches) this.#slots.get(roleOf(name))?.write(context.text);
    this.memory.fill(this.#transformer, run);
    for (const recorded of this.#recorded.values()) this.#writeWeights(recorded);
    if (stepCache) this.#meters.get(stepCache.kind)?.prepare(schedule.sigmas, stepCache);
  }

  /** Runs a computed step at the counter. */
  compute(variant: StepVariant): void {
    this.prepare(variant).replay();
  }

  /** Records a computed step, where it is not recorded yet. */
  prepare(variant: StepVariant): Graph {
    const { active, wide, guidance } = variant;
    const key = `${active.join('+')} ${guidance}${wide ? ' wide' : ''}`;
    const found = this.#recorded.get(key);
    if (found) return found.graph;
    const weights = this.memory.keep(this.#b.zeros([mostSteps, active.length], 'f32'));
    if (guidance !== 'combine')
      this.#added ??= this.memory.velocity.map(({ shape }) => this.memory.keep(this.#b.zeros(shape, 'f32')));
    const graph = this.#b.capture(() => this.#compute(variant, weights));
    const recorded = { graph, variant, weights };
    this.#recorded.set(key, recorded);
    this.#writeWeights(recorded);
    return graph;
  }

  /** Runs a step whose velocity is made of those of computed ones, by the weights in `memory.standIns`. */
  standIn(): void {
    this.prepareStandIn().replay();
  }

  /** Records such a step, where it is not recorded yet. */
  prepareStandIn(): Graph {
    this.#standIn ??= this.#b.capture(() => this.#skip());
    return this.#standIn;
  }

  /** How much the step at the counter reads that is new; see `ChangeMeter`. */
  measureChange(stepCache: PlannedStepCache): Promise<number> {
    return this.meter(stepCache).measure();
  }

  /** Records the measurement, where it is not recorded yet. */
  meter(stepCache: PlannedStepCache): ChangeMeter {
    const found = this.#meters.get(stepCache.kind);
    if (found) return found;
    const { step, states, timestepRows } = this.memory;
    const [branch] = this.#conditions.branches;
    const [vision] = states;
    if (!branch || !vision) throw new Error('a run without a branch or a target');
    const samples = states.map(({ sample }) => sample);
    const meter = new ChangeMeter(this.#b, stepCache.kind, {
      step,
      capacity: mostSteps,
      latents: vision.sample,
      firstLayerInput: {
        shape: [branch.rows, this.#transformer.config.hidden],
        dtype: this.#b.activationDtype,
        compute: () =>
          firstLayerInput(this.#b, this.#transformer, branch.segments(samples), this.#b.embed(timestepRows, step)),
      },
    });
    this.#meters.set(stepCache.kind, meter);
    if (this.#run) meter.prepare(this.#run.schedule.sigmas, stepCache);
    return meter;
  }

  /** Sets the weights of the last two computed velocities at a step. */
  setStandIn(step: number, weights: readonly [number, number]): void {
    writeRows(this.#b, this.memory.standIns, Float32Array.from(weights), step);
  }

  /** Sets the fresh noise of the step, of one target. */
  setNoise(target: number, noise: Float32Array): void {
    const state = this.memory.states[target];
    if (state) writeRows(this.#b, state.noise, noise);
  }

  [Symbol.dispose](): void {
    for (const { graph } of this.#recorded.values()) graph[Symbol.dispose]();
    this.#standIn?.[Symbol.dispose]();
    for (const meter of this.#meters.values()) meter[Symbol.dispose]();
    disposeTensors(this.memory.tensors);
    this.#taken?.[Symbol.dispose]();
  }

  #writeWeights({ variant: { active, guidance }, weights }: Recorded): void {
    const run = this.#run;
    if (!run || guidance === 'reuse') return;
    const { schedule, conditions } = run;
    const rows = Float32Array.from(
      [...schedule.timesteps].flatMap((timestep) => {
        const row = branchWeights(run.guidance, timestep, conditions.hasControls);
        return active.map((name) => row[name]);
      }),
    );
    writeRows(this.#b, weights, rows);
  }

  #compute({ active, wide, guidance }: StepVariant, weights: Tensor): void {
    const b = this.#b;
    const { states, velocity, previous, tables, step, first, minus, timestepRows } = this.memory;
    const row = b.embed(timestepRows, step); // [1, D]
    const samples = states.map(({ sample }) => sample);
    const branches = active.map((name) => this.#conditions.branches.find((branch) => branch.name === name) as Branch);
    const outputs = predictTogether(
      branches.map(({ name, segments, rows }) => ({
        rows,
        pass: { segments: segments(samples), context: this.#contexts.get(name) as GenContext },
      })),
      this.#joinedRows,
      (passes) => predictVelocities(b, this.#transformer, passes, row, { wide }),
    );
    for (const [k, name] of active.entries())
      for (const [i, kept] of (this.velocities.get(name) ?? []).entries())
        b.write(kept, (outputs[k] as readonly Tensor[])[i] as Tensor);
    for (const [i, state] of states.entries()) {
      const combined = velocity[i] as Tensor;
      const terms = outputs.map((branch) => branch[i] as Tensor);
      const added = this.#added?.[i];
      b.write(previous[i] as Tensor, combined);
      if (guidance === 'reuse' && added) b.write(combined, b.add(terms[0] as Tensor, added));
      else b.linearCombination(combined, { terms, coefficients: weights, step });
      if (guidance === 'keep' && added)
        b.linearCombination(added, { terms: [combined, terms[0] as Tensor], coefficients: minus, step: first });
      solveStep(b, state, tables, combined, step);
    }
  }

  #skip(): void {
    const b = this.#b;
    const { states, velocity, previous, standIns, tables, step } = this.memory;
    for (const [i, state] of states.entries()) {
      const terms = [velocity[i] as Tensor, previous[i] as Tensor];
      const estimate = b.zeros(state.sample.shape, 'f32');
      b.linearCombination(estimate, { terms, coefficients: standIns, step });
      solveStep(b, state, tables, estimate, step);
    }
  }
}

/** Predicts branches in as few goes as their rows allow, in order. */
function predictTogether<Pass>(
  branches: readonly { readonly rows: number; readonly pass: Pass }[],
  joinedRows: number,
  predict: (passes: readonly Pass[]) => Tensor[][],
): Tensor[][] {
  const groups: { rows: number; readonly passes: Pass[] }[] = [];
  for (const { rows, pass } of branches) {
    const group = groups.at(-1);
    if (group && group.rows + rows <= joinedRows) {
      group.passes.push(pass);
      group.rows += rows;
    } else groups.push({ rows, passes: [pass] });
  }
  return groups.flatMap(({ passes }) => predict(passes));
}
