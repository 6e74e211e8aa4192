// The device memory of a run: samples and what samplers keep of them, tables by step, velocities. Runs of one layout write their
// numbers over those of the run before.
import { type Backend, dtypeBytes, elementCount, type Tensor, uploadFloats } from '../../../backend/index.js';
import { embedTimesteps, type Transformer } from '../../../models/cosmos3-transformer/index.js';
import { stepLimit } from '../../plan/ranges.js';
import type { PlannedGuidance, PlannedStepCache } from '../../plan-types.js';
import type { Conditions } from '../conditions.js';
import type { Schedule } from '../schedule.js';
import type { SkipTable } from '../skip.js';
import {
  newSolverState,
  newSolverTables,
  type SolverState,
  type SolverTables,
  writeSolverTables,
} from '../solver-state.js';
import type { Target } from '../targets.js';
import { writeRows } from './write-rows.js';

/** What tables have room for, so that runs of any length share them. */
export const mostSteps = stepLimit;

/** The numbers of one run. */
export interface SessionRun {
  readonly conditions: Conditions;
  readonly schedule: Schedule;
  readonly guidance: PlannedGuidance;
  /** Initial latents of the targets. */
  readonly latents: readonly Float32Array[];
  readonly skip: SkipTable;
  readonly stepCache: PlannedStepCache | null;
}

export class SessionMemory {
  readonly #b: Backend;
  readonly #owned: Tensor[] = [];
  readonly states: readonly SolverState[];
  readonly tables: SolverTables;
  /** Embedded timesteps `[steps, D]`. */
  readonly timestepRows: Tensor;
  /** Weights of the last two computed velocities at skipped steps `[steps, 2]`. */
  readonly standIns: Tensor;
  /** The counter of steps, and one that stays at 0. */
  readonly step: Tensor;
  readonly first: Tensor;
  /** A difference `[1, 2]`. */
  readonly minus: Tensor;
  /** Combined velocity of the last computed step, and of the one before it, by target. */
  readonly velocity: readonly Tensor[];
  readonly previous: readonly Tensor[];

  constructor(b: Backend, hidden: number, targets: readonly Target[], stochastic: boolean) {
    this.#b = b;
    const zeros = (shape: readonly number[], dtype: 'f32' | 'i32' = 'f32') => this.keep(b.zeros(shape, dtype));
    this.states = targets.map((target) => newSolverState(b, target, stochastic));
    for (const { sample, corrected, data, noise, pinned } of this.states)
      for (const tensor of [sample, corrected, ...data, noise, pinned?.mask, pinned?.clean])
        if (tensor) this.keep(tensor);
    this.tables = newSolverTables(b, mostSteps);
    for (const table of Object.values(this.tables)) this.keep(table);
    this.timestepRows = zeros([mostSteps, hidden]);
    this.standIns = zeros([mostSteps, 2]);
    this.step = zeros([1], 'i32');
    this.first = zeros([1], 'i32');
    this.minus = this.keep(uploadFloats(b, Float32Array.of(1, -1), [1, 2]));
    this.velocity = targets.map(({ item }) => zeros(item.shape));
    this.previous = targets.map(({ item }) => zeros(item.shape));
  }

  /** Takes a tensor over. */
  keep<T extends Tensor>(tensor: T): T {
    this.#owned.push(tensor);
    return tensor;
  }

  get tensors(): readonly Tensor[] {
    return this.#owned;
  }

  /** Puts a run's numbers in place. Histories need no clearing: a sampler's first steps give them no weight. */
  fill(transformer: Transformer, { conditions, schedule, latents, skip }: SessionRun): void {
    const b = this.#b;
    const { timestepScale } = transformer.config;
    writeSolverTables(b, this.tables, schedule.table);
    writeRows(b, this.standIns, skip.coefficients);
    b.scope(() => {
      const scaled = schedule.timesteps.map((t) => Math.fround(t * timestepScale));
      b.write(b.slice(this.timestepRows, 0, 0, scaled.length), embedTimesteps(b, transformer.timestep, scaled));
      return null;
    });
    for (const [i, { sample, pinned }] of this.states.entries()) {
      const { mask, clean } = conditions.targets[i] as Target;
      writeRows(b, sample, latents[i] as Float32Array);
      if (pinned && mask && clean) {
        writeRows(b, pinned.mask, mask);
        writeRows(b, pinned.clean, clean);
      }
    }
  }

  setStep(step: number): void {
    const b = this.#b;
    b.scope(() => {
      b.write(this.step, b.upload({ shape: [1], dtype: 'i32', bytes: new Uint8Array(Int32Array.of(step).buffer) }));
      return null;
    });
  }
}

/** Bytes of tensors; one that appears twice counts once. */
export function bytesOf(tensors: readonly Tensor[]): number {
  return [...new Set(tensors)].reduce((sum, { shape, dtype }) => sum + elementCount(shape) * dtypeBytes(dtype), 0);
}
