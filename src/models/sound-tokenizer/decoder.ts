// The sound decoder: latents to samples by rising rates, each followed by dilated residual units. Source: spec, section 6.
import type { Backend, Tensor } from '../../backend/index.js';
import { chain } from '../../nn/chain.js';
import {
  type Conv1d,
  type ConvTranspose1d,
  conv1d,
  convTranspose1d,
  readNormedConv1d,
  readNormedConvTranspose1d,
} from '../../nn/conv1d.js';
import { readSnake, type Snake } from '../../nn/norm.js';
import type { WeightReader } from '../../weights/index.js';
import type { RateConfig, SoundTokenizerConfig } from './config.js';

const KERNEL = 7;
const DILATIONS = [1, 3, 9] as const;

export interface ResidualUnit {
  readonly snake1: Snake;
  readonly conv1: Conv1d; // [C, C, 1, 1, 7]
  readonly dilation: number;
  readonly snake2: Snake;
  readonly conv2: Conv1d; // [C, C, 1, 1, 1]
}

export interface DecoderLevel {
  readonly snake: Snake; // [C]
  readonly rate: ConvTranspose1d; // [C, O, 2 stride]
  readonly units: readonly ResidualUnit[];
}

export interface SoundDecoder {
  readonly input: Conv1d; // [C0, C_s, 1, 1, 7]
  readonly levels: readonly DecoderLevel[];
  readonly snake: Snake;
  readonly output: Conv1d; // [channels, C, 1, 1, 7]
}

/** Reads `decoder.…`. @throws WeightError naming a missing or misshaped tensor. */
export function readSoundDecoder(b: Backend, root: WeightReader, config: SoundTokenizerConfig): SoundDecoder {
  const reader = root.scope('decoder');
  const first = config.decoder[0]?.input ?? 0;
  const last = config.decoder.at(-1)?.output ?? 0;
  return {
    input: readNormedConv1d(b, reader, 'conv1', [first, config.latentChannels, KERNEL], { bias: true }),
    levels: config.decoder.map((level, i) => readLevel(b, reader.scope(`block.${i}`), level)),
    snake: readSnake(b, reader.scope('snake1'), last),
    output: readNormedConv1d(b, reader, 'conv2', [config.channels, last, KERNEL], { bias: false }),
  };
}

function readLevel(b: Backend, reader: WeightReader, level: RateConfig): DecoderLevel {
  return {
    snake: readSnake(b, reader.scope('snake1'), level.input),
    rate: readNormedConvTranspose1d(b, reader, 'conv_t1', level),
    units: DILATIONS.map((dilation, i) => readUnit(b, reader.scope(`res_unit${i + 1}`), level.output, dilation)),
  };
}

function readUnit(b: Backend, reader: WeightReader, channels: number, dilation: number): ResidualUnit {
  return {
    snake1: readSnake(b, reader.scope('snake1'), channels),
    conv1: readNormedConv1d(b, reader, 'conv1', [channels, channels, KERNEL], { bias: true }),
    dilation,
    snake2: readSnake(b, reader.scope('snake2'), channels),
    conv2: readNormedConv1d(b, reader, 'conv2', [channels, channels, 1], { bias: true }),
  };
}

/** `latents [T, C_s]` to samples `[T hop, channels]`, not yet clamped to [-1, 1]. */
export function decodeLatents(b: Backend, decoder: SoundDecoder, latents: Tensor): Tensor {
  return chain(b, latents, [
    (x) => conv1d(b, decoder.input, b.cast(x, b.activationDtype), { padding: (KERNEL - 1) / 2 }), // [T, C0]
    ...decoder.levels.flatMap(({ snake, rate, units }) => [
      (x: Tensor) => convTranspose1d(b, rate, b.snake(x, snake.alpha, snake.beta)), // [T', C]
      ...units.map((unit) => (x: Tensor) => residualUnit(b, unit, x)),
    ]), // [T hop, C]
    (x) => b.snake(x, decoder.snake.alpha, decoder.snake.beta),
    (x) => conv1d(b, decoder.output, x, { padding: (KERNEL - 1) / 2 }), // [T hop, channels]
  ]);
}

/** `x [T, C]` to the same shape. */
function residualUnit(b: Backend, { snake1, conv1, dilation, snake2, conv2 }: ResidualUnit, x: Tensor): Tensor {
  const residue = chain(b, x, [
    (y) => b.snake(y, snake1.alpha, snake1.beta),
    (y) => conv1d(b, conv1, y, { dilation, padding: (dilation * (KERNEL - 1)) / 2 }),
    (y) => b.snake(y, snake2.alpha, snake2.beta),
    (y) => conv1d(b, conv2, y),
  ]);
  return b.add(x, residue);
}

/**
 * How many latents before and after its own a latent's samples depend on: windows that overlap by this much are exact.
 * Found by walking back from one latent's samples.
 */
export function decoderReach({ hop, decoder }: SoundTokenizerConfig): number {
  const side = (KERNEL - 1) / 2;
  let [start, end] = [-side, hop - 1 + side]; // first and last point needed, at the current rate
  for (const { stride } of decoder.toReversed()) {
    for (const dilation of DILATIONS) [start, end] = [start - side * dilation, end + side * dilation];
    // Output o is the sum over inputs i with 0 <= o + padding - i stride < 2 stride.
    const padding = Math.ceil(stride / 2);
    [start, end] = [Math.floor((start + padding) / stride) - 1, Math.floor((end + padding) / stride)];
  }
  return Math.max(-(start - side), end + side);
}
