// The encoder: pixels to latents, four frames to one after the first. Source: spec, section 5.
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
import { averageDown, patchify } from './shortcuts.js';

export interface Downsampler {
  readonly space: Conv; // [O, O, 1, 3, 3], stride 2
  readonly time: Conv | null; // [O, O, 3, 1, 1], stride 2
}

export interface DownBlock {
  readonly config: BlockConfig;
  readonly resnets: readonly ResidualBlock[];
  readonly downsampler: Downsampler | null;
}

export interface Encoder {
  readonly patch: number; // p
  readonly input: Conv; // [C0, 3 p p, 3, 3, 3]
  readonly blocks: readonly DownBlock[];
  readonly middle: MiddleBlock;
  readonly output: NormedConv; // C -> 2z
  readonly quant: Linear; // [2z, 2z]
}

/** Reads `encoder.…` and `quant_conv`. @throws WeightError naming a missing or misshaped tensor. */
export function readEncoder(b: Backend, root: WeightReader, config: WanVaeConfig): Encoder {
  const reader = root.scope('encoder');
  const moments = 2 * config.latentChannels;
  const narrow = config.encoder[0]?.input ?? 0;
  const wide = config.encoder.at(-1)?.output ?? 0;
  return {
    patch: config.patch,
    input: readConv(b, reader, 'conv_in', { input: 3 * config.patch ** 2, output: narrow, kernel: [3, 3, 3] }),
    blocks: config.encoder.map((block, i) => readDownBlock(b, reader.scope(`down_blocks.${i}`), block)),
    middle: readMiddleBlock(b, reader.scope('mid_block'), wide),
    output: readNormedConv(b, reader, { norm: 'norm_out', conv: 'conv_out' }, [wide, moments]),
    quant: readPointwise(b, root, 'quant_conv', { input: moments, output: moments, axes: 3 }),
  };
}

function readDownBlock(b: Backend, reader: WeightReader, config: BlockConfig): DownBlock {
  const { input, output, resnets, resample } = config;
  const widths = { input: output, output };
  return {
    config,
    resnets: readResidualBlocks(b, reader, resnets, [input, output]),
    downsampler:
      resample === 'none'
        ? null
        : {
            space: readConv(b, reader, 'downsampler.resample.1', { ...widths, kernel: [3, 3] }),
            time:
              resample === 'space-time'
                ? readConv(b, reader, 'downsampler.time_conv', { ...widths, kernel: [3, 1, 1] })
                : null,
          },
  };
}

/** Makes room for the history of every causal convolution, for frames of `height` x `width` pixels. */
export function holdEncoder(encoder: Encoder, history: FrameHistory, height: number, width: number): void {
  let [h, w] = [height / encoder.patch, width / encoder.patch];
  history.hold(encoder.input, 2, h, w);
  for (const { resnets, downsampler } of encoder.blocks) {
    holdResidualBlocks(history, resnets, h, w);
    if (downsampler) [h, w] = [h / 2, w / 2];
    if (downsampler?.time) history.hold(downsampler.time, 1, h, w);
  }
  holdResidualBlocks(history, [encoder.middle.before, encoder.middle.after], h, w);
  history.hold(encoder.output.conv, 2, h, w);
}

/**
 * One window of a clip: `pixels [F, H, W, 3]` in [-1, 1], the first frame alone or any multiple of the temporal factor
 * after it, to the means `[T, H/16, W/16, z]`.
 */
export function encodeWindow(b: Backend, encoder: Encoder, pixels: Tensor, history: FrameHistory): Tensor {
  return chain(b, pixels, [
    (x) => patchify(b, b.cast(x, b.activationDtype), encoder.patch), // [F, H/2, W/2, 12]
    (x) => causalConv(b, encoder.input, history.join(encoder.input, x), history), // [F, H/2, W/2, C0]
    ...encoder.blocks.map((block) => (x: Tensor) => downBlock(b, block, x, history)), // [T, H/16, W/16, C]
    (x) => middleBlock(b, encoder.middle, x, history),
    (x) => normedConv(b, encoder.output, x, history), // [T, H/16, W/16, 2z]
    (x) => linear(b, encoder.quant, x),
    (x) => b.slice(x, 3, 0, (x.shape[3] ?? 0) / 2), // the means; the log-variances stay behind
  ]);
}

function downBlock(b: Backend, block: DownBlock, x: Tensor, history: FrameHistory): Tensor {
  const { downsampler } = block;
  const y = chain(b, x, [
    ...block.resnets.map((resnet) => (r: Tensor) => residualBlock(b, resnet, r, history)),
    ...(downsampler ? [(r: Tensor) => downsample(b, downsampler, r, history)] : []),
  ]);
  return b.add(y, averageDown(b, block.config, x, history.begun));
}

/** Halves space, then time: the first frame stays alone, each later pair sees itself and the frame before it. */
function downsample(b: Backend, { space, time }: Downsampler, x: Tensor, history: FrameHistory): Tensor {
  const halved = conv(b, space, x, {
    stride: [1, 2, 2],
    padding: [
      [0, 0],
      [0, 1],
      [0, 1],
    ],
  }); // [F, H/2, W/2, O]
  if (!time) return halved;
  const joined = history.join(time, halved); // [1 + F, H/2, W/2, O]
  history.keep(time, joined);
  return history.begun ? conv(b, time, joined, { stride: [2, 1, 1] }) : halved;
}
