// Pictures to PNG, JPEG and WebP files that carry a text.
import sharp, { type Sharp } from 'sharp';
import { MediaError } from '../media-error.js';
import type { RgbImage } from '../types.js';
import { embedText, type ImageFormat } from './embedded-text.js';

export type { ImageFormat } from './embedded-text.js';

export interface EncodeImageOptions {
  readonly format: ImageFormat;
  /** 1 … 100 for JPEG and WebP; 95 by default. */
  readonly quality?: number;
  /** WebP without loss; false by default. */
  readonly lossless?: boolean;
  /** Text carried along, read back by `readArtifactMetadata`; at most 1 MB. */
  readonly metadata?: string;
}

/** Encodes a picture; the same picture and options give the same bytes. Throws MediaError `invalid_argument`. */
export async function encodeImage(image: RgbImage, options: EncodeImageOptions): Promise<Uint8Array> {
  const { format, quality = 95, lossless = false, metadata } = options;
  const { width, height, data } = image;
  if (!Number.isInteger(quality) || quality < 1 || quality > 100) {
    throw new MediaError('invalid_argument', `Image quality is ${quality}; it must be an integer from 1 to 100.`);
  }
  const largest = format === 'webp' ? 16383 : 65535;
  if (format !== 'png' && Math.max(width, height) > largest) {
    throw new MediaError(
      'invalid_argument',
      `${width}x${height} does not fit into ${format}, whose sides end at ${largest}. Use PNG.`,
    );
  }
  const picture = sharp(data, { raw: { width, height, channels: 3 }, limitInputPixels: false });
  const bytes = await encoded(picture, format, quality, lossless);
  return metadata === undefined ? bytes : embedText(bytes, format, metadata);
}

function encoded(picture: Sharp, format: ImageFormat, quality: number, lossless: boolean): Promise<Buffer> {
  switch (format) {
    case 'png':
      return picture.png({ compressionLevel: 6 }).toBuffer();
    case 'jpeg':
      return picture.jpeg({ quality, chromaSubsampling: quality >= 90 ? '4:4:4' : '4:2:0' }).toBuffer();
    case 'webp':
      return picture.webp({ quality, lossless }).toBuffer();
    default:
      return format satisfies never;
  }
}
