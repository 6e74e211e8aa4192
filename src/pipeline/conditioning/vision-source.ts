// Given pictures, clips and control maps, brought to the canvas and encoded to clean latents. Source: spec, section 7.
import { type Backend, type Tensor, uploadFloats } from '../../backend/index.js';
import { actionCanvas, bilinearCover, coverBilinear, frameOf, type RgbClip, type RgbImage } from '../../media/index.js';
import { encode, normaliseLatents } from '../../models/wan-vae/index.js';

import { toFloat32 } from '../../weights/index.js';
import { latentFramesPerWindow } from '../decode/window.js';
import type { PlanInputs } from '../inputs.js';
import type { Networks } from '../networks.js';
import type { Plan, PlannedCondition, Size } from '../plan-types.js';

/** Encoded, normalised latents in host memory, `[T, H, W, C]`. */
export interface HostLatents {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** How one frame is brought to the canvas. */
export type FrameFit = (frame: RgbImage, canvas: Size) => RgbImage;

export const fitControl: FrameFit = (frame, { width, height }) => bilinearCover(frame, width, height);
const fitCover: FrameFit = (frame, { width, height }) => coverBilinear(frame, width, height);
const fitPad: FrameFit = (frame, { width, height }) => actionCanvas(frame, width, height).canvas;

/** Listed frames of a clip, each brought to the canvas; a frame listed several times in a row is fitted once. */
export function fitFrames(clip: RgbClip, indexes: readonly number[], canvas: Size, place: FrameFit): Uint8Array {
  const size = canvas.width * canvas.height * 3;
  const out = new Uint8Array(indexes.length * size);
  for (const [i, index] of indexes.entries()) {
    if (i > 0 && indexes[i - 1] === index) out.copyWithin(i * size, (i - 1) * size, i * size);
    else out.set(place(frameOf(clip, index), canvas).data, i * size);
  }
  return out;
}

/** RGB bytes `[F, H, W, 3]` to device pixels in [-1, 1], float32. */
export function uploadPixels(b: Backend, rgb: Uint8Array, frames: number, { width, height }: Size): Tensor {
  const values = new Float32Array(rgb.length);
  for (let i = 0; i < rgb.length; i++) values[i] = (rgb[i] as number) / 127.5 - 1;
  return uploadFloats(b, values, [frames, height, width, 3]);
}

/** Pixels `[F, H, W, 3]`, F = 4n + 1, to normalised latents in host memory. */
export async function encodePixels({ backend: b, vae }: Networks, makePixels: () => Tensor): Promise<HostLatents> {
  const latents = b.scope(() => {
    const pixels = b.cast(makePixels(), b.activationDtype); // [F, H, W, 3]
    const [, height = 0, width = 0] = pixels.shape;
    const window = latentFramesPerWindow({ width, height }, vae.config.temporalFactor);
    return normaliseLatents(b, vae, encode(b, vae, pixels, { latentFramesPerWindow: window }));
  });
  try {
    return await downloadFloats(b, latents);
  } finally {
    latents[Symbol.dispose]();
  }
}

/** The values of a tensor of any float dtype. */
export async function downloadFloats(b: Backend, tensor: Tensor): Promise<HostLatents> {
  const host = await b.download(tensor);
  return { shape: host.shape, data: toFloat32(host) };
}

/** Which frames of a source condition a run: from its first or last end; a short source repeats its last frame. */
export function sourceFrameIndexes({ pixelFrames, keep }: PlannedCondition, sourceFrames: number): number[] {
  const first = keep === 'last' ? Math.max(0, sourceFrames - pixelFrames) : 0;
  return Array.from({ length: pixelFrames }, (_, i) => Math.min(first + i, sourceFrames - 1));
}

/** Clean latents of a plan's picture or clip, cropped to the part of the canvas that it fills. */
export async function encodeCondition(
  networks: Networks,
  plan: Plan,
  condition: PlannedCondition,
  inputs: PlanInputs,
): Promise<HostLatents> {
  const clip = condition.source === 'image' ? inputs.image : inputs.video;
  if (!clip) throw new Error(`the plan conditions on its ${condition.source}, but none was loaded`);
  const place = condition.fit === 'pad' ? fitPad : fitCover;
  const rgb = fitFrames(clip, sourceFrameIndexes(condition, clip.frames), plan.canvas, place);
  const { backend: b } = networks;
  const latents = await encodePixels(networks, () => uploadPixels(b, rgb, condition.pixelFrames, plan.canvas));
  return cropLatents(latents, latentSize(plan.content, networks.vae.config.spatialFactor));
}

/** Whole latent rows and columns that a picture of this size fills; at least one each. */
export function latentSize({ width, height }: Size, spatialFactor: number): Size {
  return {
    width: Math.max(1, Math.floor(width / spatialFactor)),
    height: Math.max(1, Math.floor(height / spatialFactor)),
  };
}

function cropLatents(latents: HostLatents, { width, height }: Size): HostLatents {
  const [frames = 0, rows = 0, columns = 0, channels = 0] = latents.shape;
  if (rows === height && columns === width) return latents;
  const data = new Float32Array(frames * height * width * channels);
  for (let t = 0; t < frames; t++)
    for (let h = 0; h < height; h++) {
      const from = (t * rows + h) * columns * channels;
      data.set(latents.data.subarray(from, from + width * channels), (t * height + h) * width * channels);
    }
  return { shape: [frames, height, width, channels], data };
}
