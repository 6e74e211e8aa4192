// A text inside a picture file: PNG iTXt "Comment", JPEG comment segments, WebP EXIF ImageDescription.
import { crc32 } from 'node:zlib';
import { MediaError } from '../media-error.js';
import { chunkBytes, riffChunks, riffFile } from '../sound/riff.js';

/** Formats that are written. */
export type ImageFormat = 'png' | 'jpeg' | 'webp';

/** Longest text embedded, in bytes of UTF-8. */
const maxTextBytes = 2 ** 20;

const pngKeyword = 'Comment';
const jpegSegmentBytes = 65533;

/** The file with `text` added; pixels are untouched. Throws MediaError `invalid_argument` if the text is too long. */
export function embedText(file: Uint8Array, format: ImageFormat, text: string): Uint8Array {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > maxTextBytes) {
    throw new MediaError('invalid_argument', `Metadata of ${bytes.length} bytes; the limit is ${maxTextBytes}.`);
  }
  const buffer = Buffer.from(file.buffer, file.byteOffset, file.length);
  switch (format) {
    case 'png':
      return embedInPng(buffer, bytes);
    case 'jpeg':
      return embedInJpeg(buffer, bytes);
    case 'webp':
      return embedInWebp(buffer, bytes);
    default:
      return format satisfies never;
  }
}

/** The text `embedText` added, or null. */
export function extractText(file: Uint8Array, format: ImageFormat): string | null {
  const buffer = Buffer.from(file.buffer, file.byteOffset, file.length);
  switch (format) {
    case 'png':
      return extractFromPng(buffer);
    case 'jpeg':
      return extractFromJpeg(buffer);
    case 'webp':
      return extractFromWebp(buffer);
    default:
      return format satisfies never;
  }
}

function embedInPng(file: Buffer, text: Buffer): Buffer {
  // Keyword, not compressed, no language, no translated keyword.
  const body = Buffer.concat([Buffer.from(`iTXt${pngKeyword}\0\0\0\0\0`, 'latin1'), text]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(body.length - 4, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), chunk.length - 4);
  const afterHeader = 8 + 12 + file.readUInt32BE(8);
  return Buffer.concat([file.subarray(0, afterHeader), chunk, file.subarray(afterHeader)]);
}

function extractFromPng(file: Buffer): string | null {
  const prefix = `${pngKeyword}\0\0\0\0\0`;
  for (let at = 8; at + 12 <= file.length; at += 12 + file.readUInt32BE(at)) {
    const body = file.subarray(at + 8, at + 8 + file.readUInt32BE(at));
    if (file.toString('latin1', at + 4, at + 8) !== 'iTXt') continue;
    if (body.toString('latin1', 0, prefix.length) === prefix) return body.toString('utf8', prefix.length);
  }
  return null;
}

function embedInJpeg(file: Buffer, text: Buffer): Buffer {
  // Behind the APPn segments, of which JFIF's must stay first.
  let at = 2;
  while (at + 4 <= file.length && file[at] === 0xff && ((file[at + 1] as number) & 0xf0) === 0xe0) {
    at += 2 + file.readUInt16BE(at + 2);
  }
  const parts = [file.subarray(0, at)];
  for (let from = 0; from < text.length; from += jpegSegmentBytes) {
    const part = text.subarray(from, from + jpegSegmentBytes);
    const head = Buffer.from([0xff, 0xfe, 0, 0]);
    head.writeUInt16BE(part.length + 2, 2);
    parts.push(head, part);
  }
  return Buffer.concat([...parts, file.subarray(at)]);
}

function extractFromJpeg(file: Buffer): string | null {
  const parts: Buffer[] = [];
  let at = 2;
  while (at + 4 <= file.length && file[at] === 0xff) {
    const marker = file[at + 1] as number;
    if (marker === 0xda) break;
    const end = at + 2 + file.readUInt16BE(at + 2);
    if (marker === 0xfe) parts.push(file.subarray(at + 4, end));
    at = end;
  }
  return parts.length > 0 ? Buffer.concat(parts).toString('utf8') : null;
}

/** A little-endian TIFF structure whose only tag is ImageDescription (0x010e, ASCII type, UTF-8 content). */
function exifBlock(text: Buffer): Buffer {
  const head = Buffer.alloc(26);
  head.write('II*\0', 'latin1');
  head.writeUInt32LE(8, 4);
  head.writeUInt16LE(1, 8);
  head.writeUInt16LE(0x010e, 10);
  head.writeUInt16LE(2, 12);
  head.writeUInt32LE(text.length + 1, 14);
  head.writeUInt32LE(26, 18);
  return Buffer.concat([head, text, Buffer.alloc(1)]);
}

function embedInWebp(file: Buffer, text: Buffer): Buffer {
  const chunks = riffChunks(file).filter(({ id }) => id !== 'EXIF' && id !== 'VP8X');
  const extended = riffChunks(file).find(({ id }) => id === 'VP8X');
  const header = extended ? Buffer.from(extended.data) : extendedHeader(file);
  header[0] = (header[0] as number) | 0x08;
  return riffFile('WEBP', [
    chunkBytes('VP8X', header),
    ...chunks.map(({ id, data }) => chunkBytes(id, data)),
    chunkBytes('EXIF', exifBlock(text)),
  ]);
}

/** VP8X without flags for a simple WebP file: its size is in the frame header of VP8 or VP8L. */
function extendedHeader(file: Buffer): Buffer {
  const frame = riffChunks(file)[0];
  if (!frame) throw new MediaError('unreadable', 'A WebP file without chunks cannot carry metadata.');
  const lossless = frame.id === 'VP8L';
  const bits = lossless ? frame.data.readUInt32LE(1) : 0;
  const width = lossless ? (bits & 0x3fff) + 1 : frame.data.readUInt16LE(6) & 0x3fff;
  const height = lossless ? ((bits >>> 14) & 0x3fff) + 1 : frame.data.readUInt16LE(8) & 0x3fff;
  const header = Buffer.alloc(10);
  header.writeUIntLE(width - 1, 4, 3);
  header.writeUIntLE(height - 1, 7, 3);
  return header;
}

function extractFromWebp(file: Buffer): string | null {
  const exif = riffChunks(file).find(({ id }) => id === 'EXIF')?.data;
  if (!exif || exif.length < 26 || exif.toString('latin1', 0, 4) !== 'II*\0') return null;
  if (exif.readUInt16LE(10) !== 0x010e || exif.readUInt32LE(18) !== 26) return null;
  return exif.toString('utf8', 26, 26 + exif.readUInt32LE(14) - 1);
}
