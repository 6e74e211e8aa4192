// A small picture of a result, for lists.
import { encodeImage, type RgbImage, resizeBilinear, writeBytes } from '../../media/index.js';

/** Longest side in pixels. */
const longestSide = 320;

/** Writes the picture, shrunk to at most 320 pixels a side, in the format that the path's extension names. */
export async function writeThumbnail(path: string, image: RgbImage | undefined): Promise<void> {
  if (!image) throw new Error('the run made no frames to make a thumbnail of');
  const scale = Math.min(1, longestSide / Math.max(image.width, image.height));
  const [width, height] = [image.width, image.height].map((side) => Math.max(1, Math.round(side * scale)));
  const small = scale === 1 ? image : resizeBilinear(image, width ?? 1, height ?? 1);
  const format = path.endsWith('.png') ? 'png' : path.endsWith('.webp') ? 'webp' : 'jpeg';
  await writeBytes(path, await encodeImage(small, { format }));
}
