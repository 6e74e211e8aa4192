// What a caller gives as a picture or clip, made a source: a path, a URL, bytes, or pixels.
import { fileURLToPath } from 'node:url';
import type { MediaSource } from '../../pipeline/media-source.js';
import { RequestError, showValue } from '../../protocol/index.js';

/**
 * A source from a path, an http(s), data or file URL, bytes, or decoded pixels.
 * @throws RequestError naming what fits
 */
export function readMediaReference(name: string, value: unknown): MediaSource {
  if (value instanceof URL) return readMediaReference(name, value.href);
  if (value instanceof Uint8Array) return { kind: 'bytes', bytes: value };
  if (typeof value === 'string' && value !== '') return readPlace(name, value);
  if (isSource(value)) return value;
  if (isPixels(value)) {
    const frames = value.frames ?? 1;
    const bytes = value.width * value.height * 3 * frames;
    if (value.data.length === bytes) {
      return {
        kind: 'frames',
        clip: { width: value.width, height: value.height, frames, fps: value.fps ?? null, data: value.data },
      };
    }
    throw new RequestError(
      'invalid_value',
      name,
      `${name} must hold ${bytes} bytes for ${frames} frames of ${value.width}x${value.height} RGB, got ${value.data.length}`,
    );
  }
  throw new RequestError(
    'invalid_value',
    name,
    `${name} must be a path, an http(s) or data URL, bytes, or { width, height, data }, got ${showValue(value)}`,
  );
}

function readPlace(name: string, text: string): MediaSource {
  if (/^(https?|data):/i.test(text)) return { kind: 'url', url: text };
  if (!/^file:/i.test(text)) return { kind: 'file', path: text };
  try {
    return { kind: 'file', path: fileURLToPath(text) };
  } catch {
    throw new RequestError('invalid_value', name, `${name} must be a file URL of this machine, got ${showValue(text)}`);
  }
}

function isSource(value: unknown): value is MediaSource {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  return value.kind === 'file' || value.kind === 'url' || value.kind === 'bytes' || value.kind === 'frames';
}

interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly frames?: number;
  readonly fps?: number | null;
  readonly data: Uint8Array;
}

function isPixels(value: unknown): value is Pixels {
  if (typeof value !== 'object' || value === null || !('width' in value) || !('height' in value)) return false;
  return (
    Number.isInteger(value.width) &&
    Number.isInteger(value.height) &&
    'data' in value &&
    value.data instanceof Uint8Array
  );
}

/**
 * Frames written out as nested lists, `[T][H][W][3]` or `[H][W][3]` of 0 … 255.
 * @throws RequestError when they are ragged or hold anything else
 */
export function readInlineFrames(name: string, value: unknown): MediaSource {
  if (!Array.isArray(value)) return readMediaReference(name, value);
  const isOne = Array.isArray(value[0]) && Array.isArray(value[0][0]) && !Array.isArray(value[0][0][0]);
  const frames: readonly unknown[] = isOne ? [value] : value;
  const first: unknown = frames[0];
  const height = Array.isArray(first) ? first.length : 0;
  const width = Array.isArray(first) && Array.isArray(first[0]) ? first[0].length : 0;
  const flat: readonly unknown[] = frames.flat(3);
  const bytes = frames.length * height * width * 3;
  const isWhole = (item: unknown) => typeof item === 'number' && Number.isInteger(item) && item >= 0 && item <= 255;
  if (bytes === 0 || flat.length !== bytes || !flat.every(isWhole)) {
    throw new RequestError('invalid_value', name, `${name} must be frames [T][H][W][3] of whole numbers from 0 to 255`);
  }
  return {
    kind: 'frames',
    clip: { width, height, frames: frames.length, fps: null, data: Uint8Array.from(flat.map(Number)) },
  };
}
