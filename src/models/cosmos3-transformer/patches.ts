// Latents to tokens and back: `[T, H, W, C]` to `[T h w, p p C]`, zero-padded to whole patches. Source: spec, section 2.
import type { Backend, Tensor } from '../../backend/index.js';

/** The patch grid of a latent clip. */
export interface PatchGrid {
  readonly frames: number; // T
  readonly rows: number; // h = ceil(H / p)
  readonly columns: number; // w = ceil(W / p)
}

export function patchGrid(latentShape: readonly number[], patch: number): PatchGrid {
  const [frames, height, width] = latentShape;
  return { frames: frames ?? 0, rows: Math.ceil((height ?? 0) / patch), columns: Math.ceil((width ?? 0) / patch) };
}

/** Token `[(row_in_patch * p + column_in_patch) * C + c]`, tokens in order t, h, w. */
export function patchify(b: Backend, latents: Tensor, patch: number): Tensor {
  const { frames, rows, columns } = patchGrid(latents.shape, patch);
  const channels = latents.shape[3] ?? 0;
  const padded = padTo(b, padTo(b, latents, 1, rows * patch), 2, columns * patch); // [T, h p, w p, C]
  const split = b.view(padded, [frames, rows, patch, columns, patch, channels]);
  return b.view(b.permute(split, [0, 1, 3, 2, 4, 5]), [frames * rows * columns, patch * patch * channels]);
}

/** The inverse of `patchify`; crops the padding. */
export function unpatchify(b: Backend, tokens: Tensor, latentShape: readonly number[], patch: number): Tensor {
  const { frames, rows, columns } = patchGrid(latentShape, patch);
  const [, height, width, channels] = latentShape;
  const split = b.view(tokens, [frames, rows, columns, patch, patch, channels ?? 0]);
  const whole = b.view(b.permute(split, [0, 1, 3, 2, 4, 5]), [frames, rows * patch, columns * patch, channels ?? 0]);
  return cropTo(b, cropTo(b, whole, 1, height ?? 0), 2, width ?? 0);
}

function padTo(b: Backend, x: Tensor, axis: number, size: number): Tensor {
  const missing = size - (x.shape[axis] ?? 0);
  if (missing === 0) return x;
  const zeros = b.zeros(
    x.shape.map((s, i) => (i === axis ? missing : s)),
    x.dtype,
  );
  return b.concat([x, zeros], axis);
}

function cropTo(b: Backend, x: Tensor, axis: number, size: number): Tensor {
  return x.shape[axis] === size ? x : b.slice(x, axis, 0, size);
}
