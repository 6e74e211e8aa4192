// What decoding and encoding cost, from the config alone: floating-point operations and memory.
import { type BlockConfig, latentFrames, type WanVaeConfig } from './config.js';

export interface ClipSize {
  readonly frames: number;
  readonly height: number; // pixels
  readonly width: number; // pixels
}

/** One level's grid. */
interface Grid {
  readonly frames: number;
  readonly points: number; // height * width
}

/** Operations (two per multiply-add) of decoding a clip. */
export function decodeFlops(config: WanVaeConfig, size: ClipSize): number {
  const z = config.latentChannels;
  const wide = config.decoder[0]?.input ?? 0;
  const narrow = config.decoder.at(-1)?.output ?? 0;
  let grid = latentGrid(config, size);
  let total = conv(grid, z, z, 1) + conv(grid, z, wide, 27) + middle(grid, wide);
  for (const block of config.decoder) {
    total += resnets(grid, block);
    if (block.resample === 'space-time') {
      total += conv({ ...grid, frames: grid.frames - 1 }, block.output, 2 * block.output, 3);
      grid = { ...grid, frames: 2 * grid.frames - 1 };
    }
    if (block.resample === 'none') continue;
    grid = { ...grid, points: 4 * grid.points };
    total += conv(grid, block.output, block.output, 9);
  }
  return total + conv(grid, narrow, 3 * config.patch ** 2, 27);
}

/** Operations (two per multiply-add) of encoding a clip. */
export function encodeFlops(config: WanVaeConfig, size: ClipSize): number {
  const narrow = config.encoder[0]?.input ?? 0;
  const wide = config.encoder.at(-1)?.output ?? 0;
  const moments = 2 * config.latentChannels;
  let grid: Grid = { frames: size.frames, points: (size.height * size.width) / config.patch ** 2 };
  let total = conv(grid, 3 * config.patch ** 2, narrow, 27);
  for (const block of config.encoder) {
    total += resnets(grid, block);
    if (block.resample === 'none') continue;
    grid = { ...grid, points: grid.points / 4 };
    total += conv(grid, block.output, block.output, 9);
    if (block.resample !== 'space-time') continue;
    grid = { ...grid, frames: (grid.frames + 1) / 2 };
    total += conv({ ...grid, frames: grid.frames - 1 }, block.output, block.output, 3);
  }
  return total + middle(grid, wide) + conv(grid, wide, moments, 27) + conv(grid, moments, moments, 1);
}

/** Weights of both halves, biases and norms left out. */
export function weightCount(config: WanVaeConfig): number {
  const z = config.latentChannels;
  const wide = config.decoder[0]?.input ?? 0;
  const narrow = config.decoder.at(-1)?.output ?? 0;
  const deep = config.encoder.at(-1)?.output ?? 0;
  const shallow = config.encoder[0]?.input ?? 0;
  const colours = 3 * config.patch ** 2;
  const blocks = (list: readonly BlockConfig[], timeWidth: number) =>
    list.reduce((sum, block) => {
      const time = block.resample === 'space-time' ? 3 * timeWidth * block.output ** 2 : 0;
      const space = block.resample === 'none' ? 0 : 9 * block.output ** 2;
      return sum + resnets(onePoint, block) / 2 + time + space;
    }, 0);
  const middles = [wide, deep].reduce((sum, width) => sum + (middle(onePoint, width) - 4 * width) / 2, 0);
  const ends = z * z + 27 * z * wide + 27 * narrow * colours + 27 * colours * shallow + 27 * deep * 2 * z + 4 * z * z;
  return ends + middles + blocks(config.decoder, 2) + blocks(config.encoder, 1);
}

/** On one point of one frame, operations are two per weight; attention's own part is taken off. */
const onePoint: Grid = { frames: 1, points: 1 };

function latentGrid(config: WanVaeConfig, { frames, height, width }: ClipSize): Grid {
  return { frames: latentFrames(config, frames), points: (height * width) / config.spatialFactor ** 2 };
}

function conv({ frames, points }: Grid, input: number, output: number, taps: number): number {
  return 2 * frames * points * input * output * taps;
}

function resnets(grid: Grid, { input, output, resnets: count }: Pick<BlockConfig, 'input' | 'output' | 'resnets'>) {
  const shortcut = input === output ? 0 : conv(grid, input, output, 1);
  return conv(grid, input, output, 27) + (2 * count - 1) * conv(grid, output, output, 27) + shortcut;
}

function middle(grid: Grid, channels: number): number {
  const attention = 4 * grid.frames * grid.points ** 2 * channels;
  return (
    resnets(grid, { input: channels, output: channels, resnets: 2 }) + conv(grid, channels, 4 * channels, 1) + attention
  );
}

export interface DecodeMemoryOptions {
  readonly latentFramesPerWindow: number;
  /** Bytes of an activation: 4 for float32, 2 for bfloat16. */
  readonly elementBytes: number;
}

/**
 * Bytes that decoding needs at its peak besides weights, latents and a device's own workspace: the history of every causal
 * convolution and the largest set of tensors that live at once in a window. The number of frames does not matter once the
 * clip is longer than a window; with tiles, give the tile's size and add the decoded clip itself.
 */
export function decodeMemory(config: WanVaeConfig, size: ClipSize, options: DecodeMemoryOptions): number {
  const latents = latentFrames(config, size.frames);
  const isWindowed = latents > 1;
  let grid = latentGrid(config, size);
  grid = { ...grid, frames: Math.max(1, Math.min(latents - 1, options.latentFramesPerWindow)) };
  const wide = config.decoder[0]?.input ?? 0;
  const narrow = config.decoder.at(-1)?.output ?? 0;
  let history = 2 * grid.points * (config.latentChannels + 4 * wide);
  let peak = 0;
  for (const block of config.decoder) {
    const { input, output } = block;
    history += 2 * grid.points * (input + (2 * block.resnets - 1) * output);
    peak = Math.max(peak, resnetElements(grid, block));
    if (block.resample === 'none') continue;
    const kept = grid.frames * grid.points * input;
    if (block.resample === 'space-time') history += 2 * grid.points * output;
    const frames = block.resample === 'space-time' && isWindowed ? 2 * grid.frames : grid.frames;
    grid = { frames, points: 4 * grid.points };
    // The convolution's result, the shortcut and their sum.
    peak = Math.max(peak, kept + 3 * frames * grid.points * output);
  }
  history += 2 * grid.points * narrow;
  const pixels = grid.frames * grid.points * 3 * config.patch ** 2;
  const last = grid.frames * grid.points * narrow;
  peak = Math.max(peak, 2 * pixels, 2 * last + 2 * grid.points * narrow + pixels);
  return options.elementBytes * (peak + (isWindowed ? history : 0));
}

/** The most that lives in a level's residual blocks: the level's input, a block's input, and its norm beside two results. */
function resnetElements({ frames, points }: Grid, { input, output, resnets: count }: BlockConfig): number {
  const [x, y] = [frames * points * input, frames * points * output];
  const normed = (frames + 2) * points;
  const first = x + Math.max(normed * input + y, y + normed * output + y, 3 * y);
  const later = count > 1 ? x + y + Math.max(y + normed * output + y, 3 * y) : 0;
  return Math.max(first, later);
}
