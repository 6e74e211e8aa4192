// A piece of media as the caller has it: bytes in memory, or the path of a file.
import { open, readFile } from 'node:fs/promises';
import { fileError, MediaError } from './media-error.js';
import { describeContent, type MediaType, sniffLength, sniffMedia } from './sniff-media.js';

/** Bytes, or a path. */
export type MediaSource = Uint8Array | string;

/** The whole content. Throws MediaError `missing_file`, `unreadable`, or `too_large` beyond `maxBytes`. */
export async function readSource(source: MediaSource, maxBytes = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
  if (typeof source !== 'string') {
    if (source.length > maxBytes) throw tooManyBytes('The input', source.length, maxBytes);
    return source;
  }
  try {
    const file = await open(source);
    try {
      const { size } = await file.stat();
      if (size > maxBytes) throw tooManyBytes(source, size, maxBytes);
      return await readFile(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fileError(error, 'read', source);
  }
}

/** The first bytes, enough for `sniffMedia`. Throws MediaError `missing_file` or `unreadable`. */
export async function readHead(source: MediaSource): Promise<Uint8Array> {
  if (typeof source !== 'string') return source.subarray(0, sniffLength);
  try {
    const file = await open(source);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(sniffLength), 0, sniffLength, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fileError(error, 'read', source);
  }
}

/**
 * The type by content; `what` names the accepted ones in messages ("a video").
 * Throws MediaError `unsupported_type` unless it is one of `accepted`, and `missing_file` or `unreadable`.
 */
export async function requireType<T extends MediaType>(
  source: MediaSource,
  accepted: readonly T[],
  what: string,
): Promise<T> {
  const head = await readHead(source);
  const type = sniffMedia(head);
  const found = accepted.find((candidate) => candidate === type);
  if (found !== undefined) return found;
  const list = accepted.map((candidate) => candidate.toUpperCase()).join(', ');
  throw new MediaError(
    'unsupported_type',
    `${nameOf(source)} is not ${what}: its content is ${describeContent(head)}. Supported: ${list}.`,
  );
}

/** The path, or words for bytes that have none. */
export function nameOf(source: MediaSource): string {
  return typeof source === 'string' ? source : 'The input';
}

function tooManyBytes(name: string, size: number, limit: number): MediaError {
  return new MediaError('too_large', `${name} has ${size} bytes, the limit is ${limit}. Send a smaller one.`);
}
