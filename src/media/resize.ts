// Brings pictures and clips to the size the model works at, exactly as the reference implementation does.
import { type AxisWindow, antialiasedAxis, applyFilters, bilinearAxis, cubicAxis } from './interpolate.js';
import { MediaError } from './media-error.js';
import { frameOf, type RgbClip, type RgbImage } from './types.js';

/** A canvas whose top left part is the content, the rest reflection. */
export interface Canvas<T extends RgbImage> {
  readonly canvas: T;
  readonly contentWidth: number;
  readonly contentHeight: number;
}

/**
 * Conditioning picture: scaled to cover width x height (sizes rounded up), antialiased bilinear, centre cropped (offset
 * rounded half to even), rounded to 8 bits. Only the cropped part is computed. Gives [height, width, 3].
 * Throws MediaError `invalid_argument` for a size that is not a positive integer.
 */
export function coverBilinear(image: RgbImage, width: number, height: number): RgbImage {
  const [across, down] = coverWindows(image, width, height);
  if (isIdentity(across) && isIdentity(down)) return copyOf(image);
  return applyFilters(image, antialiasedAxis('bilinear', across), antialiasedAxis('bilinear', down));
}

/**
 * Transfer control or source frame: as coverBilinear, but plain bilinear without antialiasing (align_corners false).
 * Gives [height, width, 3]. Throws MediaError `invalid_argument` for a size that is not a positive integer.
 */
export function bilinearCover(image: RgbImage, width: number, height: number): RgbImage {
  const [across, down] = coverWindows(image, width, height);
  if (isIdentity(across) && isIdentity(down)) return copyOf(image);
  return applyFilters(image, bilinearAxis(across), bilinearAxis(down));
}

/**
 * Plain bilinear resize to width x height, aspect not kept, no antialiasing (align_corners false): the tiles of a DROID
 * composite. Gives [height, width, 3]. Throws MediaError `invalid_argument` for a size that is not a positive integer.
 */
export function resizeBilinear(image: RgbImage, width: number, height: number): RgbImage {
  checkSize(width, height);
  const across = bilinearAxis({ from: image.width, to: width, start: 0, length: width });
  const down = bilinearAxis({ from: image.height, to: height, start: 0, length: height });
  return applyFilters(image, across, down);
}

/**
 * Action picture or clip: scaled by min(W/w, H/h, 1) (never enlarged) to floor(s·x + 0.5), antialiased bicubic, then
 * filled up at the bottom and right by reflection without the border sample, or by repeating the border if the fill
 * of either side is not smaller than the content. Gives the canvas [(F,) height, width, 3] and the size of the content.
 * Throws MediaError `invalid_argument` for a size that is not a positive integer.
 */
export function actionCanvas(source: RgbClip, width: number, height: number): Canvas<RgbClip>;
export function actionCanvas(source: RgbImage, width: number, height: number): Canvas<RgbImage>;
export function actionCanvas(source: RgbImage | RgbClip, width: number, height: number): Canvas<RgbImage | RgbClip> {
  checkSize(width, height);
  const scale = Math.min(width / source.width, height / source.height, 1);
  const contentWidth = Math.max(1, Math.floor(scale * source.width + 0.5));
  const contentHeight = Math.max(1, Math.floor(scale * source.height + 0.5));
  const fitted = (image: RgbImage): RgbImage =>
    padByReflection(shrink(image, contentWidth, contentHeight), width, height);
  const canvas = 'frames' in source ? mapFrames(source, width, height, fitted) : fitted(source);
  return { canvas, contentWidth, contentHeight };
}

/**
 * Plain bicubic resize to width x height (OpenCV's INTER_CUBIC: a = -0.75, no antialiasing, borders repeated).
 * Gives [height, width, 3]. Throws MediaError `invalid_argument` for a size that is not a positive integer.
 */
export function resizeCubic(image: RgbImage, width: number, height: number): RgbImage {
  checkSize(width, height);
  const across = cubicAxis({ from: image.width, to: width, start: 0, length: width });
  const down = cubicAxis({ from: image.height, to: height, start: 0, length: height });
  return applyFilters(image, across, down);
}

/** Applies `change` (which must give width x height pictures) to each frame; fps is kept. */
export function mapFrames(
  clip: RgbClip,
  width: number,
  height: number,
  change: (frame: RgbImage) => RgbImage,
): RgbClip {
  const size = width * height * 3;
  const data = new Uint8Array(clip.frames * size);
  for (let i = 0; i < clip.frames; i++) data.set(change(frameOf(clip, i)).data, i * size);
  return { width, height, frames: clip.frames, fps: clip.fps, data };
}

function shrink(image: RgbImage, width: number, height: number): RgbImage {
  if (width === image.width && height === image.height) return image;
  const across = antialiasedAxis('bicubic', { from: image.width, to: width, start: 0, length: width });
  const down = antialiasedAxis('bicubic', { from: image.height, to: height, start: 0, length: height });
  return applyFilters(image, across, down);
}

function padByReflection(image: RgbImage, width: number, height: number): RgbImage {
  // One mode for both axes, as in the reference.
  const reflects = width - image.width < image.width && height - image.height < image.height;
  const columns = fillIndexes(image.width, width, reflects);
  const rows = fillIndexes(image.height, height, reflects);
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    const base = (rows[y] as number) * image.width * 3;
    for (let x = 0; x < width; x++) {
      const from = base + (columns[x] as number) * 3;
      const to = (y * width + x) * 3;
      data[to] = image.data[from] as number;
      data[to + 1] = image.data[from + 1] as number;
      data[to + 2] = image.data[from + 2] as number;
    }
  }
  return { width, height, data };
}

/** Source index for each of `size` positions: 0 … content-1, then back from content-2, or content-1 throughout. */
function fillIndexes(content: number, size: number, reflects: boolean): Int32Array {
  return Int32Array.from({ length: size }, (_, i) => {
    if (i < content) return i;
    return reflects ? 2 * (content - 1) - i : content - 1;
  });
}

function coverWindows(image: RgbImage, width: number, height: number): [AxisWindow, AxisWindow] {
  checkSize(width, height);
  const scale = Math.max(width / image.width, height / image.height);
  return [coverWindow(image.width, scale, width), coverWindow(image.height, scale, height)];
}

function coverWindow(from: number, scale: number, length: number): AxisWindow {
  // The product may fall a rounding error short of `length`; the scaled side is never the shorter one.
  const to = Math.max(length, Math.ceil(scale * from));
  return { from, to, start: roundHalfToEven((to - length) / 2), length };
}

function roundHalfToEven(value: number): number {
  const down = Math.floor(value);
  const rest = value - down;
  return rest > 0.5 || (rest === 0.5 && down % 2 !== 0) ? down + 1 : down;
}

function isIdentity({ from, to, start, length }: AxisWindow): boolean {
  return from === to && start === 0 && length === from;
}

function copyOf(image: RgbImage): RgbImage {
  return { width: image.width, height: image.height, data: image.data.slice() };
}

function checkSize(width: number, height: number): void {
  if (Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0) return;
  throw new MediaError('invalid_argument', `Cannot resize to ${width}x${height}: sides must be positive integers.`);
}
