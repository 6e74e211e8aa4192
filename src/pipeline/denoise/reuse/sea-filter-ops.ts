// The filter of SeaCache on the device: latents into the frequencies of their three axes, times the gains of the step, and back.
import { type Backend, type DType, disposeTensors, type Tensor, type Weight } from '../../../backend/index.js';
import { writeRows } from '../session/write-rows.js';
import { hartleyMatrix, seaGains } from './sea-filter.js';

/** What is filtered: see `SignalSource`. */
interface Filtered {
  readonly step: Tensor;
  readonly capacity: number;
  readonly latents: Tensor; // [T, H, W, C]
}

export class SeaFilter implements Disposable {
  /** Of the result: `[C, T, H, W]`. */
  readonly shape: readonly number[];
  readonly dtype: DType = 'f32';
  readonly #b: Backend;
  readonly #source: Filtered;
  /** By axis length; an axis of one element has no frequencies. */
  readonly #transforms = new Map<number, Weight>();
  readonly #gains: Tensor; // [steps, W H T]

  constructor(b: Backend, source: Filtered) {
    const [frames = 1, rows = 1, columns = 1, channels = 1] = source.latents.shape;
    this.#b = b;
    this.#source = source;
    this.shape = [channels, frames, rows, columns];
    for (const length of [frames, rows, columns]) {
      if (length === 1 || this.#transforms.has(length)) continue;
      const bytes = new Uint8Array(hartleyMatrix(length).buffer);
      this.#transforms.set(length, b.weight([{ shape: [length, length], dtype: 'f32', bytes }], 'matrix'));
    }
    this.#gains = b.zeros([source.capacity, frames * rows * columns], 'f32');
  }

  get tensors(): readonly Tensor[] {
    return [this.#gains];
  }

  /** Puts the gains of a run's steps in place. */
  prepare(sigmas: Float32Array, power: number): void {
    const [, frames = 1, rows = 1, columns = 1] = this.shape;
    const steps = Math.min(sigmas.length, this.#source.capacity);
    for (let step = 0; step < steps; step++)
      writeRows(this.#b, this.#gains, seaGains({ frames, rows, columns }, sigmas[step] as number, power), step);
  }

  compute(): Tensor {
    const b = this.#b;
    const { latents, step } = this.#source;
    const [, frames = 1, rows = 1, columns = 1] = this.shape;
    const turn = (x: Tensor, axes: readonly number[]) => b.permute(x, axes);
    let x = turn(latents, [3, 0, 1, 2]); // [C, T, H, W]
    x = turn(this.#transform(x), [0, 1, 3, 2]); // [C, T, W, H]
    x = turn(this.#transform(x), [0, 2, 3, 1]); // [C, W, H, T]
    x = b.multiply(this.#transform(x), b.view(b.embed(this.#gains, step), [columns, rows, frames]));
    x = turn(this.#transform(x), [0, 3, 1, 2]); // [C, T, W, H]
    x = turn(this.#transform(x), [0, 1, 3, 2]); // [C, T, H, W]
    return this.#transform(x);
  }

  [Symbol.dispose](): void {
    disposeTensors([this.#gains, ...this.#transforms.values()]);
  }

  /** Along the last axis. */
  #transform(x: Tensor): Tensor {
    const weight = this.#transforms.get(x.shape.at(-1) ?? 1);
    return weight ? this.#b.matmul(x, weight) : x;
  }
}
