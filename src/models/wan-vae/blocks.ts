// Blocks that encoder and decoder share: residual blocks, and the middle with its per-frame attention. Source: spec, section 5.
import type { Backend, Tensor } from '../../backend/index.js';
import { chain } from '../../nn/chain.js';
import { type Conv, type FrameHistory, normedCausalConv, readConv, readPointwise } from '../../nn/conv.js';
import { type Linear, linear } from '../../nn/linear.js';
import { readChannels } from '../../nn/norm.js';
import type { WeightReader } from '../../weights/index.js';

/** The reference divides by max(||x||, 1e-12); this is that floor inside the root, felt only where x is zero. */
const EPS = 1e-24;

/** A norm over channels, SiLU, and a causal 3x3x3 convolution. */
export interface NormedConv {
  readonly norm: { readonly weight: Tensor; readonly eps: number }; // [C]
  readonly conv: Conv; // [O, C, 3, 3, 3]
}

export interface ResidualBlock {
  readonly first: NormedConv; // C -> O
  readonly second: NormedConv; // O -> O
  /** Where the widths differ. */
  readonly shortcut: Linear | null; // [O, C]
}

export interface AttentionBlock {
  readonly norm: NormedConv['norm']; // [C]
  readonly qkv: Linear; // [3C, C]
  readonly out: Linear; // [C, C]
}

export interface MiddleBlock {
  readonly before: ResidualBlock;
  readonly attention: AttentionBlock;
  readonly after: ResidualBlock;
}

/** Channels in and out. */
export type Widths = readonly [input: number, output: number];

export function readNormedConv(
  b: Backend,
  reader: WeightReader,
  names: { readonly norm: string; readonly conv: string },
  [input, output]: Widths,
): NormedConv {
  return {
    norm: { weight: readChannels(b, reader, `${names.norm}.gamma`, [input, 1, 1, 1]), eps: EPS },
    conv: readConv(b, reader, names.conv, { input, output, kernel: [3, 3, 3] }),
  };
}

function readResidualBlock(b: Backend, reader: WeightReader, [input, output]: Widths): ResidualBlock {
  return {
    first: readNormedConv(b, reader, { norm: 'norm1', conv: 'conv1' }, [input, output]),
    second: readNormedConv(b, reader, { norm: 'norm2', conv: 'conv2' }, [output, output]),
    shortcut: input === output ? null : readPointwise(b, reader, 'conv_shortcut', { input, output, axes: 3 }),
  };
}

/** Residual blocks `resnets.0 …`; the first one changes the width. */
export function readResidualBlocks(b: Backend, reader: WeightReader, count: number, widths: Widths): ResidualBlock[] {
  const [input, output] = widths;
  return Array.from({ length: count }, (_, i) =>
    readResidualBlock(b, reader.scope(`resnets.${i}`), [i === 0 ? input : output, output]),
  );
}

export function readMiddleBlock(b: Backend, reader: WeightReader, channels: number): MiddleBlock {
  const attention = reader.scope('attentions.0');
  return {
    before: readResidualBlock(b, reader.scope('resnets.0'), [channels, channels]),
    attention: {
      norm: { weight: readChannels(b, attention, 'norm.gamma', [channels, 1, 1]), eps: EPS },
      qkv: readPointwise(b, attention, 'to_qkv', { input: channels, output: 3 * channels, axes: 2 }),
      out: readPointwise(b, attention, 'proj', { input: channels, output: channels, axes: 2 }),
    },
    after: readResidualBlock(b, reader.scope('resnets.1'), [channels, channels]),
  };
}

export function normedConv(b: Backend, { norm, conv }: NormedConv, x: Tensor, history: FrameHistory): Tensor {
  return normedCausalConv(b, norm, conv, x, history);
}

/** `x [F, H, W, C]` to `[F, H, W, O]`. */
export function residualBlock(b: Backend, block: ResidualBlock, x: Tensor, history: FrameHistory): Tensor {
  const residue = chain(b, x, [
    (y) => normedConv(b, block.first, y, history),
    (y) => normedConv(b, block.second, y, history),
  ]); // [F, H, W, O]
  return b.add(residue, block.shortcut ? linear(b, block.shortcut, x) : x);
}

/** Each frame attends to itself alone, with one head over its H·W points. */
function attentionBlock(b: Backend, { norm, qkv, out }: AttentionBlock, x: Tensor): Tensor {
  const [frames = 0, height = 0, width = 0, channels = 0] = x.shape;
  const points = height * width;
  const projected = b.view(linear(b, qkv, b.rmsNorm(x, norm.weight, norm)), [frames * points, 1, 3 * channels]);
  const [q, k, v] = [0, 1, 2].map((i) => b.slice(projected, 2, i * channels, (i + 1) * channels)) as [
    Tensor,
    Tensor,
    Tensor,
  ]; // [F H W, 1, C]
  const attended = Array.from({ length: frames }, (_, frame) => {
    const ofFrame = (t: Tensor) => b.slice(t, 0, frame * points, (frame + 1) * points);
    return b.attention(ofFrame(q), [{ k: ofFrame(k), v: ofFrame(v) }]); // [H W, 1, C]
  });
  const all = attended.length === 1 && attended[0] ? attended[0] : b.concat(attended, 0);
  return b.add(x, linear(b, out, b.view(all, x.shape))); // [F, H, W, C]
}

/** `x [F, H, W, C]` to the same shape. */
export function middleBlock(b: Backend, block: MiddleBlock, x: Tensor, history: FrameHistory): Tensor {
  return chain(b, x, [
    (y) => residualBlock(b, block.before, y, history),
    (y) => attentionBlock(b, block.attention, y),
    (y) => residualBlock(b, block.after, y, history),
  ]);
}

/** Makes room for the history of residual blocks that work at one size. */
export function holdResidualBlocks(
  history: FrameHistory,
  blocks: readonly ResidualBlock[],
  height: number,
  width: number,
): void {
  for (const { first, second } of blocks) for (const { conv } of [first, second]) history.hold(conv, 2, height, width);
}
