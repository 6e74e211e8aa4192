// Values with more than one spelling: sizes, intervals, index lists, modalities.
import type { Interval } from '../../pipeline/request.js';
import { RequestError, showValue } from '../../protocol/index.js';

/**
 * `1280x720` as width and height.
 * @throws RequestError unless both are positive
 */
export function readSize(size: string): { readonly width: number; readonly height: number } {
  const [width = 0, height = 0] = size.split('x').map(Number);
  if (width > 0 && height > 0) return { width, height };
  throw new RequestError('invalid_value', 'size', `size must have a positive width and height, got ${size}`);
}

/**
 * A closed interval on the timestep axis: `[400, 1000]` or `"400,1000"`.
 * @throws RequestError unless it is two numbers in 0 … 1000, the lower first
 */
export function readInterval(name: string, value: unknown): Interval | undefined {
  if (value === undefined) return undefined;
  const parts = readNumbers(value);
  const fail = (why: string): never => {
    throw new RequestError('invalid_value', name, `${name} ${why}, got ${showValue(value)}`);
  };
  if (parts === undefined) return fail('must be two numbers, as [400, 1000] or "400,1000"');
  const [low, high] = parts;
  if (parts.length !== 2 || low === undefined || high === undefined) return fail('must contain exactly two values');
  if (low > high) return fail('must be ordered as [lo, hi]');
  if (low < 0 || high > 1000) return fail('must lie between 0 and 1000');
  return [low, high];
}

/**
 * Indexes from 0: `3`, `"0,3"` or `[0, 3]`, sorted, each once.
 * @throws RequestError for anything else, an empty list included
 */
export function readIndexes(name: string, value: unknown): readonly number[] | undefined {
  if (value === undefined) return undefined;
  const indexes = readNumbers(value);
  if (indexes === undefined || indexes.some((index) => !Number.isInteger(index))) {
    throw new RequestError(
      'invalid_value',
      name,
      `${name} must be whole numbers, as 0, "0,1" or [0, 1], got ${showValue(value)}`,
    );
  }
  if (indexes.length === 0) throw new RequestError('invalid_value', name, `${name} must contain at least one index`);
  const negative = indexes.find((index) => index < 0);
  if (negative !== undefined) {
    throw new RequestError('invalid_value', name, `${name} must be non-negative, got ${negative}`);
  }
  return [...new Set(indexes)].sort((a, b) => a - b);
}

/** Numbers given as one, as text with commas, or as a list; undefined when any is none. */
function readNumbers(value: unknown): readonly number[] | undefined {
  const items: readonly unknown[] =
    typeof value === 'string' ? value.split(',').filter((item) => item.trim() !== '') : [value].flat();
  const numbers = items.map((item) => (typeof item === 'string' ? Number(item) : item));
  return numbers.every((item): item is number => typeof item === 'number' && Number.isFinite(item))
    ? numbers
    : undefined;
}

const modalityNames = ['image', 'video', 'text', 'audio'];

/**
 * Whether `modalities` asks for a picture. `text` and `audio` are taken and change nothing.
 * @throws RequestError for an unknown one, or for image and video together
 */
export function asksForImage(value: unknown): boolean {
  if (value === undefined) return false;
  const list: readonly unknown[] =
    typeof value === 'string' ? value.split(',').map((word) => word.trim()) : [value].flat();
  const unknown = list.find((word) => typeof word !== 'string' || !modalityNames.includes(word));
  if (unknown !== undefined) {
    throw new RequestError(
      'invalid_value',
      'modalities',
      `modalities must be among ${modalityNames.join(', ')}, got ${showValue(unknown)}`,
    );
  }
  if (list.includes('image') && list.includes('video')) {
    throw new RequestError('conflict', 'modalities', 'modalities cannot request both image and video; ask for one');
  }
  return list.includes('image');
}

/**
 * Encoder options: an object of words and numbers.
 * @throws RequestError for anything else
 */
export function readCodecOptions(value: unknown): Readonly<Record<string, string | number>> {
  if (value === undefined) return {};
  const isOption = (item: unknown) => typeof item === 'number' || typeof item === 'string';
  if (isOptions(value) && Object.values(value).every(isOption)) return value;
  throw new RequestError(
    'invalid_value',
    'video_codec_options',
    `video_codec_options must be an object of words and numbers, as {"crf": 23}, got ${showValue(value)}`,
  );
}

function isOptions(value: unknown): value is Readonly<Record<string, string | number>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value is an object with names, and no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
