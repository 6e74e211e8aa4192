// The decoder: latents to pixels, one frame from the first latent and four from each later one. Source: spec, section 5.
import type { Backend, Tensor } from '../../backend/index.js';
import { chain } from '../../nn/chain.js';
import { type Conv, causalConv, conv, type FrameHistory, readConv, readPointwise } from '../../nn/conv.js';
import { type Linear, linear } from '../../nn/linear.js';
import type { WeightReader } from '../../weights/index.js';
import {
  holdResidualBlocks,
  type MiddleBlock,
  middleBlock,
  type NormedConv,
  normedConv,
  type ResidualBlock,
  readMiddleBlock,
  readNormedConv,
  readResidualBlocks,
  residualBlock,
} from './blocks.js';
import type { BlockConfig, WanVaeConfig } from './config.js';
import { duplicateUp, framesFromChannels, unpatchify } from './shortcuts.js';

export interface Upsampler {
  readonly time: Conv | null; // [2C, C, 3, 1, 1]
  readonly space: Conv; // [C, C, 1, 3, 3]
}

export interface UpBlock {
  readonly config: BlockConfig;
  readonly resnets: readonly ResidualBlock[];
  readonly upsampler: Upsampler | null;
}

export interface Decoder {
  readonly patch: number; // p
  readonly postQuant: Linear; // [z, z]
  readonly input: Conv; // [C0, z, 3, 3, 3]
  readonly middle: MiddleBlock;
  readonly blocks: readonly UpBlock[];
  readonly output: NormedConv; // C -> 3 p p
}

/** Reads `post_quant_conv` and `decoder.…`. @throws WeightError naming a missing or misshaped tensor. */
export function readDecoder(b: Backend, root: WeightReader, config: WanVaeConfig): Decoder {
  const reader = root.scope('decoder');
  const z = config.latentChannels;
  const wide = config.decoder[0]?.input ?? 0;
  const narrow = config.decoder.at(-1)?.output ?? 0;
  return {
    patch: config.patch,
    postQuant: readPointwise(b, root, 'post_quant_conv', { input: z, output: z, axes: 3 }),
    input: readConv(b, reader, 'conv_in', { input: z, output: wide, kernel: [3, 3, 3] }),
    middle: readMiddleBlock(b, reader.scope('mid_block'), wide),
    blocks: config.decoder.map((block, i) => readUpBlock(b, reader.scope(`up_blocks.${i}`), block)),
    output: readNormedConv(b, reader, { norm: 'norm_out', conv: 'conv_out' }, [narrow, 3 * config.patch ** 2]),
  };
}

function readUpBlock(b: Backend, reader: WeightReader, config: BlockConfig): UpBlock {
  const { input, output, resnets, resample } = config;
  return {
    config,
    resnets: readResidualBlocks(b, reader, resnets, [input, output]),
    upsampler:
      resample === 'none'
        ? null
        : {
            time:
              resample === 'space-time'
                ? readConv(b, reader, 'upsampler.time_conv', { input: output, output: 2 * output, kernel: [3, 1, 1] })
                : null,
            space: readConv(b, reader, 'upsampler.resample.1', { input: output, output, kernel: [3, 3] }),
          },
  };
}

/** Makes room for the history of every causal convolution, for latents of `height` x `width`. */
export function holdDecoder(decoder: Decoder, history: FrameHistory, height: number, width: number): void {
  let [h, w] = [height, width];
  history.hold(decoder.input, 2, h, w);
  holdResidualBlocks(history, [decoder.middle.before, decoder.middle.after], h, w);
  for (const { resnets, upsampler } of decoder.blocks) {
    holdResidualBlocks(history, resnets, h, w);
    if (upsampler?.time) history.hold(upsampler.time, 2, h, w);
    if (upsampler) [h, w] = [2 * h, 2 * w];
  }
  history.hold(decoder.output.conv, 2, h, w);
}

/**
 * One window of a clip: raw `latents [T, h, w, z]`, the first frame alone or any number after it, to pixels
 * `[F, 16h, 16w, 3]`, not yet clamped to [-1, 1].
 */
export function decodeWindow(b: Backend, decoder: Decoder, latents: Tensor, history: FrameHistory): Tensor {
  return chain(b, latents, [
    (x) => linear(b, decoder.postQuant, b.cast(x, b.activationDtype)),
    (x) => causalConv(b, decoder.input, history.join(decoder.input, x), history), // [T, h, w, C0]
    (x) => middleBlock(b, decoder.middle, x, history),
    ...decoder.blocks.map((block) => (x: Tensor) => upBlock(b, block, x, history)), // [F, 8h, 8w, C]
    (x) => normedConv(b, decoder.output, x, history), // [F, 8h, 8w, 12]
    (x) => unpatchify(b, x, decoder.patch),
  ]);
}

function upBlock(b: Backend, block: UpBlock, x: Tensor, history: FrameHistory): Tensor {
  const { upsampler } = block;
  const y = chain(b, x, [
    ...block.resnets.map((resnet) => (r: Tensor) => residualBlock(b, resnet, r, history)),
    ...(upsampler ? [(r: Tensor) => upsample(b, upsampler, r, history)] : []),
  ]);
  return upsampler ? b.add(y, duplicateUp(b, block.config, x, history.begun)) : y;
}

/** Doubles time, then space. The clip's first frame stays alone, and the convolution over time never sees it. */
function upsample(b: Backend, { time, space }: Upsampler, x: Tensor, history: FrameHistory): Tensor {
  return chain(b, x, [
    ...(time && history.begun
      ? [
          (y: Tensor) => causalConv(b, time, history.join(time, y), history), // [F, H, W, 2C]
          (y: Tensor) => framesFromChannels(b, y), // [2F, H, W, C]
        ]
      : []),
    (y) => b.upsampleNearest(y, 2), // [2F, 2H, 2W, C]
    (y) =>
      conv(b, space, y, {
        padding: [
          [0, 0],
          [1, 1],
          [1, 1],
        ],
      }),
  ]);
}
