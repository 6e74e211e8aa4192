// Changes of grid that have no weights: patches, and the shortcuts beside resampling blocks. Source: spec, section 5.
import type { Backend, Tensor } from '../../backend/index.js';
import { type BlockConfig, resampleFactor } from './config.js';

/** Pixels `[F, H, W, 3]` to `[F, H/p, W/p, 3 p p]`, channel `(c * p + column) * p + row`: width before height. */
export function patchify(b: Backend, pixels: Tensor, p: number): Tensor {
  const [frames = 0, height = 0, width = 0, colours = 0] = pixels.shape;
  const [rows, columns] = [height / p, width / p];
  const split = b.view(pixels, [frames * rows, p, columns, p, colours]);
  return b.view(b.permute(split, [0, 2, 4, 3, 1]), [frames, rows, columns, colours * p * p]);
}

/** The inverse of `patchify`. */
export function unpatchify(b: Backend, x: Tensor, p: number): Tensor {
  const [frames = 0, rows = 0, columns = 0, channels = 0] = x.shape;
  const colours = channels / (p * p);
  const split = b.view(x, [frames * rows, columns, colours, p, p]); // …, c, column, row
  return b.view(b.permute(split, [0, 4, 1, 3, 2]), [frames, rows * p, columns * p, colours]);
}

/** Two frames for each of `x [F, H, W, C]`, both equal to it. */
function repeatFrames(b: Backend, x: Tensor): Tensor {
  const [frames = 0, ...rest] = x.shape;
  const lone = b.view(x, [frames, 1, ...rest]);
  return b.view(b.concat([lone, lone], 1), [2 * frames, ...rest]);
}

/**
 * The encoder's shortcut: each offset of the halved axes becomes a channel (order c, t, h, w), then the mean over groups
 * of neighbours. `x [F, H, W, C]` to `[F', H', W', O]`. Where time is halved and the clip begins, a zero frame goes before
 * it, so that the first frame is paired with nothing.
 */
export function averageDown(b: Backend, block: BlockConfig, x: Tensor, begun: boolean): Tensor {
  if (resampleFactor(block) === 1 && block.input === block.output) return x;
  const inTime = block.resample === 'space-time' ? 2 : 1;
  const inSpace = block.resample === 'none' ? 1 : 2;
  const group = (block.input * resampleFactor(block)) / block.output;
  return b.scope(() => {
    const padded = inTime === 2 && !begun ? b.concat([b.zeros([1, ...x.shape.slice(1)], x.dtype), x], 0) : x;
    const [frames = 0, height = 0, width = 0, channels = 0] = padded.shape;
    const [f, h, w] = [frames / inTime, height / inSpace, width / inSpace];
    const split = b.view(padded, [f, inTime, h, inSpace, w, inSpace, channels]);
    const offsets = b.permute(split, [0, 2, 4, 6, 1, 3, 5]); // [f, h, w, C, t, h, w]
    return b.mean(b.view(offsets, [f, h, w, block.output, group]));
  });
}

/**
 * The decoder's shortcut: channels repeated and dealt out to the doubled axes (order c, t, h, w). `x [F, H, W, C]` to
 * `[F', 2H, 2W, O]`. Where time is doubled and the clip begins, the first of the first two frames is dropped.
 */
export function duplicateUp(b: Backend, block: BlockConfig, x: Tensor, begun: boolean): Tensor {
  const inTime = block.resample === 'space-time';
  // Each channel fills this many successive offsets in order t, h, w, w fastest.
  const repeats = (block.output * resampleFactor(block)) / block.input;
  return b.scope(() => {
    const doubled = inTime ? upInTime(b, block.output, repeats, x, begun) : x;
    return upInSpace(b, block.output, repeats, doubled);
  });
}

function upInTime(b: Backend, output: number, repeats: number, x: Tensor, begun: boolean): Tensor {
  const [frames = 0, height = 0, width = 0, channels = 0] = x.shape;
  if (repeats === 8) return begun ? repeatFrames(b, x) : x;
  // The offset in time is the slowest of those inside a channel's index.
  const inner = channels / output / 2;
  const split = b.view(x, [frames, height * width, output, 2, inner]);
  const dealt = b.view(b.permute(split, [0, 3, 1, 2, 4]), [2 * frames, height, width, output * inner]);
  return begun ? dealt : b.slice(dealt, 0, 1, 2 * frames);
}

function upInSpace(b: Backend, output: number, repeats: number, x: Tensor): Tensor {
  const [frames = 0, height = 0, width = 0] = x.shape;
  if (repeats >= 4) return b.upsampleNearest(x, 2);
  if (repeats === 1) {
    const split = b.view(x, [frames * height, width, output, 2, 2]); // …, row, column
    return b.view(b.permute(split, [0, 3, 1, 4, 2]), [frames, 2 * height, 2 * width, output]);
  }
  const split = b.view(x, [frames * height, width, output, 2]); // …, row
  const rows = b.view(b.permute(split, [0, 3, 1, 2]), [2 * frames * height * width, 1, output]);
  return b.view(b.concat([rows, rows], 1), [frames, 2 * height, 2 * width, output]); // columns repeated
}

/** The halves of `x [F, H, W, 2C]`'s channels become two successive frames: `[2F, H, W, C]`. */
export function framesFromChannels(b: Backend, x: Tensor): Tensor {
  const [frames = 0, height = 0, width = 0, channels = 0] = x.shape;
  const split = b.view(x, [frames, height * width, 2, channels / 2]);
  return b.view(b.permute(split, [0, 2, 1, 3]), [2 * frames, height, width, channels / 2]);
}
