// Measures on the device how much what a step reads differs from what the step before read: one recorded sequence, and a read of
// two numbers a step.
import {
  type Backend,
  type DType,
  disposeTensors,
  type Graph,
  type Tensor,
  uploadFloats,
} from '../../../backend/index.js';
import { toFloat32 } from '../../../weights/index.js';
import type { PlannedStepCache } from '../../plan-types.js';
import { SeaFilter } from './sea-filter-ops.js';

/** What is measured: a tensor of always the same shape. */
export interface Signal {
  readonly shape: readonly number[];
  readonly dtype: DType;
  /** Enqueues its computation from the current samples and step. */
  readonly compute: () => Tensor;
}

/** What signals are made of. */
export interface SignalSource {
  /** The counter of steps, int32 `[1]`. */
  readonly step: Tensor;
  /** Most steps of a run. */
  readonly capacity: number;
  /** The clip's latents `[T, H, W, C]`, float32. */
  readonly latents: Tensor;
  /** What the first layer reads in the conditional branch `[S, D]`. */
  readonly firstLayerInput: Signal;
}

export class ChangeMeter implements Disposable {
  readonly #b: Backend;
  readonly #filter: SeaFilter | null;
  readonly #graph: Graph;
  /** The signal of the step before. */
  readonly #before: Tensor;
  /** Mean absolute difference, and mean absolute value before. */
  readonly #means: Tensor; // [2]
  readonly #minus: Tensor; // [1, 2]
  readonly #first: Tensor; // [1]

  /** Records the measurement; nothing runs yet. */
  constructor(b: Backend, kind: PlannedStepCache['kind'], source: SignalSource) {
    this.#b = b;
    this.#filter = kind === 'seacache' ? new SeaFilter(b, source) : null;
    const signal = this.#filter ?? source.firstLayerInput;
    this.#before = b.zeros(signal.shape, signal.dtype);
    this.#means = b.zeros([2], 'f32');
    this.#minus = uploadFloats(b, Float32Array.of(1, -1), [1, 2]);
    this.#first = b.zeros([1], 'i32');
    this.#graph = b.capture(() => this.#measure(signal));
  }

  /** Device memory it holds. */
  get tensors(): readonly Tensor[] {
    return [this.#before, this.#means, this.#minus, this.#first, ...(this.#filter?.tensors ?? [])];
  }

  /** Prepares for a run at these noise levels. */
  prepare(sigmas: Float32Array, { power }: Pick<PlannedStepCache, 'power'>): void {
    this.#filter?.prepare(sigmas, power);
  }

  /** Relative L1 distance of the current step's signal from that of the call before; of the first call it means nothing. */
  async measure(): Promise<number> {
    this.#graph.replay();
    const [difference = 0, before = 0] = toFloat32(await this.#b.download(this.#means));
    return before > 0 ? difference / before : Number.POSITIVE_INFINITY;
  }

  [Symbol.dispose](): void {
    this.#graph[Symbol.dispose]();
    this.#filter?.[Symbol.dispose]();
    disposeTensors([this.#before, this.#means, this.#minus, this.#first]);
  }

  #measure(signal: Signal): void {
    const b = this.#b;
    const current = signal.compute();
    const difference = b.zeros(signal.shape, signal.dtype);
    const terms = [current, this.#before];
    b.linearCombination(difference, { terms, coefficients: this.#minus, step: this.#first });
    for (const [i, x] of [difference, this.#before].entries())
      b.write(b.slice(this.#means, 0, i, i + 1), meanAbsolute(b, x));
    b.write(this.#before, current);
  }
}

/** The mean of all absolute values, float32 `[1]`: along the last axis first, then of those means. */
function meanAbsolute(b: Backend, x: Tensor): Tensor {
  const rows = b.mean(b.activation(x, 'abs'));
  const count = rows.shape.reduce((product, size) => product * size, 1);
  return b.mean(b.view(b.cast(rows, 'f32'), [1, count]));
}
