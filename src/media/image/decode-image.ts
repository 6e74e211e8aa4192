// Pictures from files and uploads, as 8-bit RGB the right way up.
import sharp, { type Metadata } from 'sharp';
import { MediaError } from '../media-error.js';
import { type MediaSource, nameOf, readSource, requireType } from '../source.js';
import type { RgbImage } from '../types.js';
import type { FfmpegOptions } from '../video/ffmpeg.js';
import { bmpSize, bmpToPng } from './bmp.js';

export interface DecodeImageOptions extends FfmpegOptions {
  /** Most pixels (width x height) accepted; 100 million by default. */
  readonly maxPixels?: number;
  /** Most bytes accepted; 512 MiB by default. */
  readonly maxBytes?: number;
}

export const imageTypes = ['png', 'jpeg', 'webp', 'gif', 'bmp', 'tiff', 'avif'] as const;

/**
 * Decodes a picture, told by its content: 8 or 16 bits, grey, palette, RGB or CMYK, turned upright by its EXIF
 * orientation, transparency laid over white, the first one of an animation.
 * Throws MediaError `missing_file`, `unsupported_type`, `too_large`, `unreadable` or `truncated`, and `ffmpeg_missing` for BMP.
 */
export async function decodeImage(source: MediaSource, options: DecodeImageOptions = {}): Promise<RgbImage> {
  const { maxPixels = 100e6, maxBytes = 512 * 2 ** 20 } = options;
  const name = nameOf(source);
  const type = await requireType(source, imageTypes, 'an image');
  const file = await readSource(source, maxBytes);
  const bytes = type === 'bmp' ? await bmpToPng(file, name, maxPixels, options) : file;
  const { width, height } = await readSize(bytes, name);
  if (width * height > maxPixels) {
    throw new MediaError(
      'too_large',
      `${name} is ${width}x${height}, ${width * height} pixels; the limit is ${maxPixels}. Shrink it.`,
    );
  }
  try {
    const { data, info } = await sharp(bytes, { limitInputPixels: false, failOn: 'warning' })
      .autoOrient()
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    if (info.channels !== 3) throw new Error(`${info.channels} channels after conversion`);
    return { width: info.width, height: info.height, data: new Uint8Array(data.buffer, data.byteOffset, data.length) };
  } catch (error) {
    throw decodeError(error, name);
  }
}

/**
 * Upright size of a picture without decoding it.
 * Throws MediaError `missing_file`, `unsupported_type` or `unreadable`.
 */
export async function probeImage(source: MediaSource): Promise<{ width: number; height: number }> {
  const type = await requireType(source, imageTypes, 'an image');
  const bytes = await readSource(source);
  return type === 'bmp' ? bmpSize(bytes, nameOf(source)) : readSize(bytes, nameOf(source));
}

async function readSize(bytes: Uint8Array, name: string): Promise<{ width: number; height: number }> {
  let metadata: Metadata;
  try {
    metadata = await sharp(bytes, { limitInputPixels: false }).metadata();
  } catch (error) {
    throw decodeError(error, name);
  }
  return metadata.autoOrient;
}

function decodeError(error: unknown, name: string): MediaError {
  const why = (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
  const cut = /premature|truncat|not enough|end of (file|stream|image)|read error|unexpected end/i.test(why);
  return new MediaError(
    cut ? 'truncated' : 'unreadable',
    cut
      ? `${name} is cut short (${why}). Send the whole file.`
      : `${name} cannot be decoded: ${why}. Send another copy.`,
    { cause: error },
  );
}
