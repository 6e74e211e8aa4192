// The denoise loop of a dump: one prompt, one clip, all of it vision, timestep embeddings given. It is captured once and
// runs as often as wanted, with any shift and any steps skipped. Source: performance spec, A.4.
import { type Backend, disposeTensors, type Graph, type Tensor, uploadFloats } from '../../backend/index.js';
import { type GenContext, predictVelocity, type Transformer } from '../../models/cosmos3-transformer/index.js';
import type { Schedule } from '../denoise/schedule.js';
import type { SkipTable } from '../denoise/skip.js';
import {
  newSolverState,
  newSolverTables,
  type SolverState,
  type SolverTables,
  solveStep,
  writeSolverTables,
} from '../denoise/solver-state.js';
import { StepPace } from '../denoise/step-pace.js';

/** What a loop is made of. It owns none of it. */
export interface VideoLoopInput {
  readonly context: GenContext;
  /** `[T, H, W, C]`, float32: the noise every run starts from. */
  readonly noise: Tensor;
  /** 1 for each token that carries the timestep `[S]`. */
  readonly noisy: Tensor;
  /** Embedded timesteps `[N, D]`. */
  readonly timestepRows: Tensor;
  /** Whether each of the N steps runs without quantised rows. */
  readonly wide: readonly boolean[];
}

/** State after a step. */
export interface VideoStep {
  /** 0-based. */
  readonly step: number;
  readonly skipped: boolean;
}

/** Device memory and recorded steps of one prompt. */
export class VideoLoop implements Disposable {
  readonly #b: Backend;
  readonly #input: VideoLoopInput;
  readonly #state: SolverState;
  readonly #tables: SolverTables;
  readonly #skipCoefficients: Tensor;
  readonly #velocity: Tensor;
  readonly #previous: Tensor;
  readonly #step: Tensor;
  readonly #computed: Graph;
  readonly #wide: Graph | null;
  readonly #skipped: Graph;

  /** Records a computed step, a skipped one, and a wide one where there are any; nothing runs yet. */
  constructor(b: Backend, transformer: Transformer, input: VideoLoopInput) {
    const { noise, timestepRows } = input;
    const { shape } = noise;
    const steps = timestepRows.shape[0] ?? 0;
    this.#b = b;
    this.#input = input;
    this.#state = emptyState(b, shape);
    this.#tables = newSolverTables(b, steps);
    this.#skipCoefficients = b.zeros([steps, 2], 'f32');
    this.#velocity = b.zeros(shape, 'f32');
    this.#previous = b.zeros(shape, 'f32');
    this.#step = b.zeros([1], 'i32');
    this.#computed = b.capture(() => this.#compute(transformer, false));
    this.#wide = input.wide.includes(true) ? b.capture(() => this.#compute(transformer, true)) : null;
    this.#skipped = b.capture(() => this.#standIn());
  }

  /** Puts the noise and the tables of a run in place, so that `run` has nothing to copy but the step's number. */
  prepare(schedule: Schedule, skip: SkipTable): void {
    const b = this.#b;
    b.scope(() => {
      writeSolverTables(b, this.#tables, schedule.table);
      b.write(this.#skipCoefficients, uploadFloats(b, skip.coefficients, this.#skipCoefficients.shape));
      b.write(this.#state.sample, this.#input.noise);
      return null;
    });
  }

  /** Runs all steps. A step is reported when the next one may be handed over; when the last one has been, all are done. */
  async *run({ skipped }: Pick<SkipTable, 'skipped'>): AsyncGenerator<VideoStep, void> {
    const b = this.#b;
    const pace = new StepPace(b);
    for (const [step, isSkipped] of skipped.entries()) {
      b.scope(() => {
        const bytes = new Uint8Array(Int32Array.of(step).buffer);
        b.write(this.#step, b.upload({ shape: [1], dtype: 'i32', bytes }));
        return null;
      });
      const computed = this.#input.wide[step] === true && this.#wide !== null ? this.#wide : this.#computed;
      (isSkipped ? this.#skipped : computed).replay();
      await pace.next();
      if (step === skipped.length - 1) await pace.finish();
      yield { step, skipped: isSkipped };
    }
  }

  /** The sample `[T, H, W, C]` as the last step left it; the next run overwrites it. */
  get sample(): Tensor {
    return this.#state.sample;
  }

  [Symbol.dispose](): void {
    this.#computed[Symbol.dispose]();
    this.#wide?.[Symbol.dispose]();
    this.#skipped[Symbol.dispose]();
    const { sample, corrected, data } = this.#state;
    const { next, corrected: correctedTable, data: dataTable } = this.#tables;
    disposeTensors([sample, corrected, data, next, correctedTable, dataTable]);
    disposeTensors([this.#skipCoefficients, this.#velocity, this.#previous, this.#step]);
  }

  #compute(transformer: Transformer, wide: boolean): void {
    const b = this.#b;
    const { context, noisy, timestepRows } = this.#input;
    const row = b.embed(timestepRows, this.#step); // [1, D]
    const segment = { kind: 'vision', latents: this.#state.sample, noisy, predicted: true } as const;
    const [velocity] = predictVelocity(b, transformer, [segment], context, row, { wide });
    if (velocity === undefined) throw new Error('the network predicted nothing for a vision segment');
    b.write(this.#previous, this.#velocity);
    b.write(this.#velocity, velocity);
    solveStep(b, this.#state, this.#tables, this.#velocity, this.#step);
  }

  #standIn(): void {
    const b = this.#b;
    const estimate = b.zeros(this.#velocity.shape, 'f32');
    const terms = [this.#velocity, this.#previous];
    b.linearCombination(estimate, { terms, coefficients: this.#skipCoefficients, step: this.#step });
    solveStep(b, this.#state, this.#tables, estimate, this.#step);
  }
}

function emptyState(b: Backend, shape: readonly number[]): SolverState {
  const item = { kind: 'vision', shape, fps: 24 } as const; // positions come from the dump, the rate is not read
  return newSolverState(b, { item, cleanFrames: [], mask: null, clean: null }, false);
}
