// Reads what MP4 and QuickTime files say of themselves, without decoding: completeness, tracks, comment.
import { type FileHandle, open } from 'node:fs/promises';
import { fileError, MediaError } from '../media-error.js';

export interface Mp4Track {
  readonly kind: 'video' | 'sound' | 'other';
  /** Frames of a video track; 0 if the file is fragmented. */
  readonly samples: number;
  /** Ticks per second. */
  readonly timescale: number;
  /** Ticks each sample lasts, or null if they differ. */
  readonly delta: number | null;
}

export interface Mp4Summary {
  /** False if there is no moov box, or it or the frames' data end behind the end of the file. */
  readonly complete: boolean;
  /** Whether the index precedes the data, so that players can begin before the end arrives. */
  readonly faststart: boolean;
  readonly fragmented: boolean;
  readonly tracks: readonly Mp4Track[];
  /** The iTunes-style comment, or null. */
  readonly comment: string | null;
}

interface Box {
  readonly type: string;
  /** Of the box's content within its file or buffer. */
  readonly start: number;
  readonly end: number;
}

const largestIndex = 256 * 2 ** 20;

/** Summarises a file. Throws MediaError `missing_file`, `unreadable`, or `too_large` for an index beyond 256 MiB. */
export async function readMp4(path: string): Promise<Mp4Summary> {
  try {
    const file = await open(path);
    try {
      return await summarize(file, path);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fileError(error, 'read', path);
  }
}

/**
 * Overwrites `from`, which must occur in the file's index, with `to` of the same number of bytes.
 * Throws MediaError `unreadable` if it does not occur, `invalid_argument` if the lengths differ.
 */
export async function replaceInIndex(path: string, from: string, to: string): Promise<void> {
  const [found, wanted] = [Buffer.from(from), Buffer.from(to)];
  if (found.length !== wanted.length) {
    throw new MediaError('invalid_argument', `Metadata changed from ${found.length} to ${wanted.length} bytes.`);
  }
  const file = await open(path, 'r+');
  try {
    const moov = (await topBoxes(file)).boxes.find(({ type }) => type === 'moov');
    const index = Buffer.alloc(moov ? moov.end - moov.start : 0);
    await file.read(index, 0, index.length, moov?.start ?? 0);
    const at = index.indexOf(found);
    if (!moov || at < 0) throw new MediaError('unreadable', `${path} lost its metadata.`);
    await file.write(wanted, 0, wanted.length, moov.start + at);
  } finally {
    await file.close();
  }
}

async function topBoxes(file: FileHandle): Promise<{ size: number; whole: boolean; boxes: readonly Box[] }> {
  const { size } = await file.stat();
  const boxes: Box[] = [];
  let whole = true;
  for (let at = 0; at < size; ) {
    const head = Buffer.alloc(16);
    const { bytesRead } = await file.read(head, 0, 16, at);
    const box = bytesRead >= 8 ? parseBox(head, 0, at, size) : null;
    // Some writers leave a few stray bytes at the end: only what carries frames must be whole.
    if (box === null) break;
    if (box.end > size && ['moov', 'mdat', 'moof'].includes(box.type)) whole = false;
    boxes.push(box);
    at = box.end;
  }
  return { size, whole, boxes };
}

async function summarize(file: FileHandle, path: string): Promise<Mp4Summary> {
  const { size, whole, boxes } = await topBoxes(file);
  const position = (type: string): number => boxes.findIndex((box) => box.type === type);
  const moov = boxes[position('moov')];
  if (!moov || moov.end > size) {
    return { complete: false, faststart: false, fragmented: false, tracks: [], comment: null };
  }
  if (moov.end - moov.start > largestIndex) {
    throw new MediaError(
      'too_large',
      `${path} has an index of ${moov.end - moov.start} bytes; the limit is ${largestIndex}.`,
    );
  }
  const index = Buffer.alloc(moov.end - moov.start);
  await file.read(index, 0, index.length, moov.start);
  const children = childBoxes(index);
  return {
    complete: whole,
    faststart: position('mdat') === -1 || position('moov') < position('mdat'),
    fragmented: children.some(({ type }) => type === 'mvex'),
    tracks: children.filter(({ type }) => type === 'trak').map((trak) => readTrack(contentOf(index, trak))),
    comment: readComment(index),
  };
}

function readTrack(trak: Buffer): Mp4Track {
  const media = descend(trak, ['mdia']);
  const header = media && descend(media, ['mdhd']);
  const handler = media && descend(media, ['hdlr'])?.toString('latin1', 8, 12);
  const durations = media && descend(media, ['minf', 'stbl', 'stts']);
  const kind = handler === 'vide' ? 'video' : handler === 'soun' ? 'sound' : 'other';
  const timescale = header && header.length >= 24 ? header.readUInt32BE(header[0] === 1 ? 20 : 12) : 0;
  return { kind, timescale, ...readDurations(durations) };
}

/** Samples and their common duration of a time-to-sample box; the last sample's own duration does not count. */
function readDurations(stts: Buffer | null): { samples: number; delta: number | null } {
  if (!stts || stts.length < 8) return { samples: 0, delta: null };
  const runs: { count: number; delta: number }[] = [];
  for (let at = 8; at + 8 <= stts.length && runs.length < stts.readUInt32BE(4); at += 8) {
    runs.push({ count: stts.readUInt32BE(at), delta: stts.readUInt32BE(at + 4) });
  }
  const samples = runs.reduce((sum, { count }) => sum + count, 0);
  const last = runs.at(-1);
  const counted = runs.length > 1 && last?.count === 1 ? runs.slice(0, -1) : runs;
  const deltas = new Set(counted.map(({ delta }) => delta));
  return { samples, delta: deltas.size === 1 ? (counted[0]?.delta ?? null) : null };
}

function readComment(moov: Buffer): string | null {
  const meta = descend(moov, ['udta', 'meta']);
  // `meta` begins with a version word in MP4.
  const item = meta && descend(meta.subarray(4), ['ilst', '\xa9cmt', 'data']);
  return item && item.length >= 8 ? item.toString('utf8', 8) : null;
}

/** Content of the first box along `path`, or null. */
function descend(buffer: Buffer, path: readonly string[]): Buffer | null {
  let content: Buffer = buffer;
  for (const type of path) {
    const box = childBoxes(content).find((child) => child.type === type);
    if (!box) return null;
    content = contentOf(content, box);
  }
  return content;
}

function childBoxes(buffer: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= buffer.length; ) {
    const box = parseBox(buffer, at, at, buffer.length);
    if (box === null || box.end > buffer.length) break;
    boxes.push(box);
    at = box.end;
  }
  return boxes;
}

function contentOf(buffer: Buffer, { start, end }: Box): Buffer {
  return buffer.subarray(start, end);
}

/** The box whose header is at `offset` of `bytes` and at `position` of what it belongs to; null if it is no header. */
function parseBox(bytes: Buffer, offset: number, position: number, limit: number): Box | null {
  const short = bytes.readUInt32BE(offset);
  const type = bytes.toString('latin1', offset + 4, offset + 8);
  if (short === 0) return { type, start: position + 8, end: limit };
  if (short > 1) return short < 8 ? null : { type, start: position + 8, end: position + short };
  if (offset + 16 > bytes.length) return null;
  const long = Number(bytes.readBigUInt64BE(offset + 8));
  return long < 16 ? null : { type, start: position + 16, end: position + long };
}
