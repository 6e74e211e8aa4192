// The sound encoder: a spectrogram, then ConvNeXt blocks at falling rates. Source: spec, section 6.
import { type Backend, type Tensor, uploadFloats } from '../../backend/index.js';
import { chain } from '../../nn/chain.js';
import { readPointwise } from '../../nn/conv.js';
import { type Conv1d, conv1d, lineWeight, readNormedConv1d } from '../../nn/conv1d.js';
import { type Linear, linear, readVector } from '../../nn/linear.js';
import { readChannels, readSnake, type Snake } from '../../nn/norm.js';
import type { WeightReader } from '../../weights/index.js';
import type { RateConfig, SoundEncoderConfig, SoundTokenizerConfig } from './config.js';
import { spectrogramKernel } from './spectrogram.js';

const LAYER_NORM_EPS = 1e-5;

export interface ConvNextBlock {
  readonly depthwise: Conv1d; // [C, 1, 1, 1, 7]
  readonly norm: Tensor; // [C]
  readonly up: Linear; // [4C, C]
  readonly snake: Snake; // [4C]
  readonly down: Linear; // [C, 4C]
}

export interface EncoderLevel {
  readonly blocks: readonly ConvNextBlock[];
  readonly rate: Conv1d; // [O, C, 1, 1, 2 stride]
  readonly stride: number;
}

export interface SoundEncoder {
  readonly config: SoundEncoderConfig;
  readonly channels: number;
  /** The short-time Fourier transform of all channels, as a convolution over whole hops. */
  readonly spectrogram: Conv1d; // [channels 2 bins, channels hop, 1, 1, fft / hop]
  readonly input: Conv1d; // [C0, channels 2 bins, 1, 1, 1]
  readonly levels: readonly EncoderLevel[];
  readonly output: Conv1d; // [2 C_s, C, 1, 1, 1]
}

/** Reads `encoder.layers.0 …`: input, the blocks and the change of rate of each level, output. */
export function readSoundEncoder(
  b: Backend,
  root: WeightReader,
  { channels, latentChannels }: SoundTokenizerConfig,
  config: SoundEncoderConfig,
): SoundEncoder {
  const layers = root.scope('encoder.layers');
  const spectrum = channels * (config.fft + 2);
  const first = config.levels[0]?.input ?? 0;
  const last = config.levels.at(-1)?.output ?? 0;
  const perLevel = config.blocks + 1;
  return {
    config,
    channels,
    spectrogram: { weight: lineWeight(b, spectrogramKernel(config, channels)) },
    input: readNormedConv1d(b, layers, '0', [first, spectrum, 1], { bias: false }),
    levels: config.levels.map((level, i) => readLevel(b, layers, 1 + i * perLevel, config.blocks, level)),
    output: readNormedConv1d(b, layers, `${1 + config.levels.length * perLevel}`, [2 * latentChannels, last, 1], {
      bias: false,
    }),
  };
}

function readLevel(b: Backend, layers: WeightReader, start: number, blocks: number, level: RateConfig): EncoderLevel {
  const { input, output, stride } = level;
  return {
    blocks: Array.from({ length: blocks }, (_, i) => readConvNextBlock(b, layers.scope(`${start + i}`), input)),
    rate: readNormedConv1d(b, layers, `${start + blocks}`, [output, input, 2 * stride], { bias: true }),
    stride,
  };
}

function readConvNextBlock(b: Backend, reader: WeightReader, channels: number): ConvNextBlock {
  const wide = 4 * channels;
  return {
    depthwise: {
      weight: lineWeight(b, reader.read('dwconv.1.weight', [channels, 1, 7])),
      bias: readVector(b, reader, 'dwconv.1.bias', channels),
    },
    norm: readChannels(b, reader, 'norm.weight', [channels]),
    up: readPointwise(b, reader, 'pwconv1', { input: channels, output: wide, axes: 1 }),
    snake: readSnake(b, reader.scope('act'), wide),
    down: readPointwise(b, reader, 'pwconv2', { input: wide, output: channels, axes: 1 }),
  };
}

/**
 * The means of a waveform's latents, `[T, C_s]`.
 * @param hops `[hops, hop channels]`: the padded waveform, samples interleaved, one row per hop of the spectrogram
 */
export function encodeHops(b: Backend, encoder: SoundEncoder, hops: Float32Array): Tensor {
  const width = encoder.config.hop * encoder.channels;
  return b.scope(() => {
    const x = b.cast(uploadFloats(b, hops, [hops.length / width, width]), b.activationDtype);
    return chain(b, x, [
      (y) => conv1d(b, encoder.spectrogram, y), // [samples / 16, channels 2 bins]
      (y) => conv1d(b, encoder.input, y), // [samples / 16, C0]
      ...encoder.levels.flatMap((level) => [
        ...level.blocks.map((block) => (y: Tensor) => convNextBlock(b, block, y)),
        (y: Tensor) => conv1d(b, level.rate, y, { stride: level.stride, padding: Math.ceil(level.stride / 2) }),
      ]), // [T, C]
      (y) => conv1d(b, encoder.output, y), // [T, 2 C_s]
      (y) => b.slice(y, 1, 0, (y.shape[1] ?? 0) / 2),
    ]);
  });
}

/** `x [T, C]` to the same shape. */
function convNextBlock(b: Backend, block: ConvNextBlock, x: Tensor): Tensor {
  const residue = chain(b, x, [
    (y) => conv1d(b, block.depthwise, y, { padding: 3, groups: y.shape[1] ?? 1 }),
    (y) => b.layerNorm(y, block.norm, null, LAYER_NORM_EPS),
    (y) => linear(b, block.up, y), // [T, 4C]
    (y) => b.snake(y, block.snake.alpha, block.snake.beta),
    (y) => linear(b, block.down, y), // [T, C]
  ]);
  return b.add(x, residue);
}
