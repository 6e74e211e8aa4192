// Videos to frames: contiguous, upright, none added or dropped, as they come.
import type { Readable } from 'node:stream';
import { MediaError } from '../media-error.js';
import { requireType } from '../source.js';
import type { RgbClip, RgbImage } from '../types.js';
import { type FfmpegOptions, findFfmpeg, hasFpsMode, startFfmpeg, summarizeErrors } from './ffmpeg.js';
import { inputArguments, probeVideo, videoTypes } from './probe.js';

export interface DecodeFramesOptions extends FfmpegOptions {
  /** Decode at most this many frames from the start; all by default. */
  readonly maxFrames?: number | undefined;
  /** Most pixels of one frame; 100 million by default. */
  readonly maxPixels?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface DecodeVideoOptions extends DecodeFramesOptions {
  /** Which `maxFrames` frames are kept; `first` by default. */
  readonly keep?: 'first' | 'last' | undefined;
  /** Most bytes of decoded frames; 2 GiB by default. */
  readonly maxBytes?: number | undefined;
}

/**
 * Decodes frame after frame in 8-bit RGB. Ending the loop early ends ffmpeg. Each frame owns its memory.
 * Throws MediaError `missing_file`, `unsupported_type`, `truncated`, `too_large`, `unreadable`, `aborted`, `ffmpeg_missing`.
 */
export async function* decodeFrames(path: string, options: DecodeFramesOptions = {}): AsyncGenerator<RgbImage> {
  const { maxFrames, maxPixels = 100e6, signal } = options;
  const type = await requireType(path, videoTypes, 'a video');
  const ffmpeg = options.ffmpeg ?? (await findFfmpeg());
  const info = await probeVideo(path, { ffmpeg });
  if (info.width * info.height > maxPixels) {
    throw new MediaError(
      'too_large',
      `${path} is ${info.width}x${info.height}; a frame may have ${maxPixels} pixels. Shrink it.`,
    );
  }
  const count = maxFrames === undefined ? [] : ['-frames:v', String(maxFrames)];
  const passthrough = hasFpsMode(ffmpeg) ? ['-fps_mode', 'passthrough'] : ['-vsync', '0'];
  const output = ['-map', '0:v:0', ...passthrough, '-sws_flags', 'bicubic+accurate_rnd+full_chroma_int+bitexact'];
  const stream = ['-pix_fmt', 'rgb24', '-f', 'image2pipe', '-c:v', 'ppm', 'pipe:1'];
  const args = ['-v', 'error', ...inputArguments(type, path), ...output, ...count, ...stream];
  const run = startFfmpeg(ffmpeg, args, { signal });
  let frames = 0;
  try {
    if (run.child.stdout) {
      for await (const frame of parsePpm(run.child.stdout)) {
        frames++;
        yield frame;
      }
    }
    const { code } = await run.ended;
    if (signal?.aborted) throw new MediaError('aborted', `Decoding ${path} was stopped.`);
    if (code !== 0 || frames === 0) {
      throw new MediaError(
        'unreadable',
        `${path} cannot be decoded (${summarizeErrors(run.errors())}). Send another copy.`,
      );
    }
  } finally {
    run.kill();
  }
}

/**
 * Decodes the first or last `maxFrames` frames into one clip with the source's fps.
 * Throws what `decodeFrames` throws, and `too_large` beyond `maxBytes`.
 */
export async function decodeVideo(path: string, options: DecodeVideoOptions = {}): Promise<RgbClip> {
  const { maxFrames, keep = 'first', maxBytes = 2 ** 31, ...rest } = options;
  if (maxFrames !== undefined && (!Number.isInteger(maxFrames) || maxFrames < 1)) {
    throw new MediaError('invalid_argument', `Cannot decode ${maxFrames} frames; ask for at least 1.`);
  }
  const ffmpeg = options.ffmpeg ?? (await findFfmpeg());
  const { width, height, fps } = await probeVideo(path, { ffmpeg });
  const size = width * height * 3;
  const fitting = Math.floor(maxBytes / size);
  const kept: Uint8Array[] = [];
  const limit = keep === 'first' ? maxFrames : undefined;
  for await (const frame of decodeFrames(path, { ...rest, ffmpeg, maxFrames: limit })) {
    if (frame.width !== width || frame.height !== height) {
      throw new MediaError(
        'unreadable',
        `${path} has frames of ${frame.width}x${frame.height} instead of ${width}x${height}.`,
      );
    }
    kept.push(frame.data);
    if (keep === 'last' && maxFrames !== undefined && kept.length > maxFrames) kept.shift();
    if (kept.length > fitting) {
      throw new MediaError(
        'too_large',
        `${path} has more than ${fitting} frames of ${width}x${height}, which is all that fits. Cut it.`,
      );
    }
  }
  return { width, height, frames: kept.length, fps, data: joined(kept, size) };
}

/** Joins frames, letting go of each as soon as it is copied. */
function joined(frames: Uint8Array[], size: number): Uint8Array {
  const data = new Uint8Array(frames.length * size);
  frames.forEach((frame, i) => {
    data.set(frame, i * size);
    frames[i] = new Uint8Array(0);
  });
  return data;
}

/** Splits a stream of binary PPM pictures (`P6 width height 255`), which unlike raw video says each frame's size. */
async function* parsePpm(stream: Readable): AsyncGenerator<RgbImage> {
  let head: Buffer = Buffer.alloc(0);
  let frame: { width: number; height: number; data: Uint8Array } | null = null;
  let filled = 0;
  for await (const piece of stream) {
    let bytes: Buffer = head.length > 0 ? Buffer.concat([head, piece]) : piece;
    head = Buffer.alloc(0);
    while (bytes.length > 0) {
      if (frame === null) {
        const match = /^P6\n(\d+) (\d+)\n255\n/.exec(bytes.toString('latin1', 0, 40));
        if (!match) {
          if (bytes.length >= 40) throw new MediaError('ffmpeg_failed', 'ffmpeg gave something else than pictures.');
          head = bytes;
          break;
        }
        const [width, height] = [Number(match[1]), Number(match[2])];
        frame = { width, height, data: new Uint8Array(width * height * 3) };
        filled = 0;
        bytes = bytes.subarray(match[0].length);
      }
      const part = bytes.subarray(0, frame.data.length - filled);
      frame.data.set(part, filled);
      filled += part.length;
      bytes = bytes.subarray(part.length);
      if (filled === frame.data.length) {
        yield frame;
        frame = null;
      }
    }
  }
}
