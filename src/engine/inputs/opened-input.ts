// An input made readable: fetched if it is a URL, told by its content, measured. Pixels are decoded later, as many as the plan needs.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  clipFromArray,
  decodeImage,
  decodeVideo,
  type Ffmpeg,
  fetchMedia,
  imageAsClip,
  mediaKind,
  probeImage,
  probeVideo,
  type RgbClip,
  readHead,
  readNpy,
  readSource,
  sniffMedia,
} from '../../media/index.js';
import type { InputFacts } from '../../pipeline/facts.js';
import type { MediaSource } from '../../pipeline/media-source.js';
import { RequestError } from '../../protocol/index.js';

/** Frames to decode: at most `count`, from the front or the end. */
export interface FrameRange {
  readonly count: number;
  readonly keep: 'first' | 'last';
}

/** A probed input. Disposing of it removes what was fetched. */
export interface OpenedInput extends AsyncDisposable {
  readonly facts: InputFacts;
  /** Decodes the frames asked for; all of a source that has fewer. */
  decode(range: FrameRange): Promise<RgbClip>;
}

/** Media tools of this process. */
export interface InputTools {
  /** Finds ffmpeg; called only where a clip is read. */
  findFfmpeg(): Promise<Ffmpeg>;
  readonly signal?: AbortSignal | undefined;
}

/** What a role takes. */
export type AcceptedInput = 'image' | 'video' | 'either';

/**
 * Opens and probes a source.
 * @param name what to call it in messages
 * @throws MediaError when it cannot be read; RequestError when it is of the wrong kind
 */
export async function openInput(
  name: string,
  source: MediaSource,
  accepted: AcceptedInput,
  tools: InputTools,
): Promise<OpenedInput> {
  if (source.kind === 'frames') return openPixels(source.clip);
  const content =
    source.kind === 'file' ? source.path : source.kind === 'bytes' ? source.bytes : await fetchBytes(source.url, tools);
  const type = sniffMedia(await readHead(content));
  const kind = type === null ? null : mediaKind(type);
  if (kind === 'array' && accepted !== 'image')
    return openPixels(clipFromArray(readNpy(await readSource(content), name), name));
  const isClip = accepted === 'video' || (accepted === 'either' && kind === 'video');
  // A moving GIF is a clip where only a clip will do.
  if (isClip && kind === 'image' && type !== 'gif') {
    throw new RequestError('invalid_media', name, `${name} is a picture (${type}); it must be a clip, as MP4`);
  }
  return isClip ? openClip(content, tools) : openPicture(content);
}

async function fetchBytes(url: string, { signal }: InputTools): Promise<Uint8Array> {
  const { bytes } = await fetchMedia(url, { signal });
  return bytes;
}

function openPixels(clip: RgbClip): OpenedInput {
  const { width, height, frames, fps } = clip;
  const sha256 = createHash('sha256').update(clip.data).digest('hex');
  return {
    facts: { sha256, width, height, frames, fps },
    async decode({ count, keep }) {
      const taken = Math.min(count, frames);
      const first = keep === 'first' ? 0 : frames - taken;
      const size = width * height * 3;
      return { ...clip, frames: taken, data: clip.data.subarray(first * size, (first + taken) * size) };
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function openPicture(content: Uint8Array | string): Promise<OpenedInput> {
  const { width, height } = await probeImage(content);
  return {
    facts: { sha256: await hashContent(content), width, height, frames: 1, fps: null },
    decode: async () => imageAsClip(await decodeImage(content)),
    async [Symbol.asyncDispose]() {},
  };
}

async function openClip(content: Uint8Array | string, tools: InputTools): Promise<OpenedInput> {
  const file = typeof content === 'string' ? { path: content, folder: undefined } : await spill(content);
  const drop = async () => {
    if (file.folder !== undefined) await rm(file.folder, { recursive: true, force: true });
  };
  try {
    const ffmpeg = await tools.findFfmpeg();
    const { width, height, fps, frames } = await probeVideo(file.path, { ffmpeg });
    const options = { ffmpeg, signal: tools.signal };
    // A file without an index says nothing certain of its length.
    const counted = frames ?? (await decodeVideo(file.path, options)).frames;
    return {
      facts: { sha256: await hashContent(file.path), width, height, frames: counted, fps },
      decode: ({ count, keep }) => decodeVideo(file.path, { ...options, maxFrames: count, keep }),
      [Symbol.asyncDispose]: drop,
    };
  } catch (error) {
    await drop();
    throw error;
  }
}

async function spill(bytes: Uint8Array): Promise<{ readonly path: string; readonly folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-input-'));
  const path = join(folder, 'clip');
  await writeFile(path, bytes);
  return { path, folder };
}

async function hashContent(content: Uint8Array | string): Promise<string> {
  const hash = createHash('sha256');
  if (typeof content !== 'string') return hash.update(content).digest('hex');
  for await (const piece of createReadStream(content)) hash.update(piece);
  return hash.digest('hex');
}
