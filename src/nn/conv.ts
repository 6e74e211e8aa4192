// Convolutions on clips `[F, H, W, C]`, and the history that lets causal ones walk a clip in windows of frames.
import type { Backend, ConvOptions, Tensor, Weight } from '../backend/index.js';
import type { WeightReader } from '../weights/index.js';
import { type Linear, readVector } from './linear.js';

export interface Conv {
  readonly weight: Weight; // [O, C, kT, kH, kW]
  readonly bias: Tensor; // [O]
}

/** Channels and kernel of a stored convolution; a two-number kernel is stored `[O, C, kH, kW]` and works on single frames. */
export interface ConvShape {
  readonly input: number; // C
  readonly output: number; // O
  readonly kernel: readonly [number, number, number] | readonly [number, number];
}

/**
 * Reads `NAME.weight` and `NAME.bias`.
 * @throws WeightError where one is missing or misshaped.
 */
export function readConv(b: Backend, reader: WeightReader, name: string, { input, output, kernel }: ConvShape): Conv {
  const stored = reader.read(`${name}.weight`, [output, input, ...kernel]);
  const volume = kernel.length === 2 ? [1, ...kernel] : kernel;
  return {
    weight: b.weight([{ ...stored, shape: [output, input, ...volume] }], 'convolution'),
    bias: readVector(b, reader, `${name}.bias`, output),
  };
}

/** Reads a convolution whose kernel is one point on each of `axes` axes, as the matrix that it is. */
export function readPointwise(
  b: Backend,
  reader: WeightReader,
  name: string,
  { input, output, axes }: { readonly input: number; readonly output: number; readonly axes: 1 | 2 | 3 },
): Linear {
  const stored = reader.read(`${name}.weight`, [output, input, ...[1, 1, 1].slice(0, axes)]);
  return {
    weight: b.weight([{ ...stored, shape: [output, input] }], 'matrix'),
    bias: readVector(b, reader, `${name}.bias`, output),
  };
}

/** Convolution of `x [F, H, W, C]`. */
export function conv(b: Backend, { weight, bias }: Conv, x: Tensor, options: Omit<ConvOptions, 'bias'> = {}): Tensor {
  return b.conv(x, weight, { bias, ...options });
}

/**
 * What causal convolutions remember between two windows of a clip: the last frames of their inputs, zero at first.
 * Only convolutions that were `hold` do; an empty history serves a clip that is one window.
 */
export class FrameHistory implements Disposable {
  readonly #b: Backend;
  readonly #frames = new Map<Conv, Tensor>();
  #begun = false;

  constructor(b: Backend) {
    this.#b = b;
  }

  /** False while the clip's first window runs: nothing lies before it. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Makes room for the last `frames` input frames `[H, W, C]` of a convolution. Call outside any scope. */
  hold(layer: Conv, frames: number, height: number, width: number): void {
    const channels = layer.weight.shape[1] ?? 0;
    this.#frames.set(layer, this.#b.zeros([frames, height, width, channels], this.#b.activationDtype));
  }

  /** The frames that come before this window, or undefined in the first one. */
  front(layer: Conv): Tensor | undefined {
    return this.#begun ? this.#frames.get(layer) : undefined;
  }

  /** `x [F, H, W, C]` with the frames before it in front. */
  join(layer: Conv, x: Tensor): Tensor {
    const front = this.front(layer);
    return front ? this.#b.concat([front, x], 0) : x;
  }

  /** Remembers the last frames of an input, which includes what `front` gave. */
  keep(layer: Conv, input: Tensor): void {
    const held = this.#frames.get(layer);
    if (!held) return;
    const room = held.shape[0] ?? 0;
    const total = input.shape[0] ?? 0;
    const count = Math.min(room, total);
    this.#b.write(this.#b.slice(held, 0, room - count, room), this.#b.slice(input, 0, total - count, total));
  }

  /** Ends the first window. */
  begin(): void {
    this.#begun = true;
  }

  [Symbol.dispose](): void {
    for (const frames of this.#frames.values()) frames[Symbol.dispose]();
    this.#frames.clear();
  }
}

/**
 * Causal in time, same size in space: output frame t sees input frames t-kT+1 … t. `x [F, H, W, C]` begins with what
 * `history.front` gave; in the first window nothing was given and zeros count as the frames before it.
 */
export function causalConv(b: Backend, layer: Conv, x: Tensor, history: FrameHistory): Tensor {
  const [, , kT = 1, kH = 1, kW = 1] = layer.weight.shape;
  history.keep(layer, x);
  const [h, w] = [(kH - 1) / 2, (kW - 1) / 2];
  return conv(b, layer, x, {
    // Zeros before the clip are padding, not frames: a device need not multiply by them.
    padding: [
      [history.begun ? 0 : kT - 1, 0],
      [h, h],
      [w, w],
    ],
  });
}

/** `causalConv(silu(rmsNorm(x)))`; the norm writes behind the history, so nothing is copied to join them. */
export function normedCausalConv(
  b: Backend,
  norm: { readonly weight: Tensor; readonly eps: number },
  layer: Conv,
  x: Tensor,
  history: FrameHistory,
): Tensor {
  const front = history.front(layer);
  return b.scope(() => {
    const normed = b.rmsNorm(x, norm.weight, { eps: norm.eps, activation: 'silu', ...(front && { front }) }); // [kT - 1 + F, H, W, C]
    return causalConv(b, layer, normed, history); // [F, H, W, O]
  });
}
