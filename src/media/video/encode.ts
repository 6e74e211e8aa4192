// Frames to an MP4 file: H.264 and AAC through ffmpeg, streamed, the same bytes for the same input.
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { MediaError } from '../media-error.js';
import { encodeWav } from '../sound/wav.js';
import type { Waveform } from '../types.js';
import { writeThroughTemporary } from '../write-file.js';
import { codecArguments, type VideoCodecOptions } from './codec-options.js';
import { type Ffmpeg, type FfmpegOptions, type FfmpegRun, findFfmpeg, startFfmpeg, summarizeErrors } from './ffmpeg.js';
import { fractionText, toFraction } from './fraction.js';
import { readMp4, replaceInIndex } from './mp4-boxes.js';

export interface EncodeVideoOptions extends FfmpegOptions {
  /** Where the file goes; it appears whole or not at all. */
  readonly path: string;
  /** Frames per second; stored as the nearest fraction with a denominator of at most 10000. */
  readonly fps: number;
  readonly width: number;
  readonly height: number;
  /** Each [height, width, 3]; a frame may be reused once the next one is asked for. */
  readonly frames: AsyncIterable<Uint8Array>;
  /** One or two channels of any rate; stored as 48 kHz stereo. */
  readonly sound?: Waveform | undefined;
  /**
   * Text of at most 1 MB carried as the comment, read back by `readArtifactMetadata`; or how it follows from the frames'
   * SHA-256 (64 hexadecimal digits), with a length that does not depend on it.
   */
  readonly metadata?: string | ((sha256: string) => string) | undefined;
  /** Encoder threads; with 1 (default) the bytes do not depend on the machine's cores. */
  readonly threads?: number | undefined;
  /** Quality, 0 (lossless) … 51; 18 by default. */
  readonly crf?: number | undefined;
  /** x264's name for speed; `veryfast` by default. */
  readonly preset?: string | undefined;
  /** Further x264 options by ffmpeg's names; they win over `crf`, `preset` and `threads`. */
  readonly codecOptions?: VideoCodecOptions | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface EncodedVideo {
  readonly path: string;
  readonly bytes: number;
  readonly frames: number;
  /** SHA-256 of all frames as they were given, in hexadecimal. */
  readonly sha256: string;
  /** As stored: an odd side is made even by repeating its last row or column. */
  readonly width: number;
  readonly height: number;
  readonly ffmpeg: Ffmpeg;
}

const maxMetadataBytes = 2 ** 20;
const readAheadBytes = 64 * 2 ** 20;
const unknownHash = '0'.repeat(64);

/**
 * Encodes and writes the file: yuv420p, BT.709, index in front. Accepted only if ffmpeg ends well and the file's own
 * index has as many frames as were given. Errors of `frames` are passed on; on any error nothing is left behind.
 * Throws MediaError `invalid_argument`, `unwritable`, `disk_full`, `aborted`, `ffmpeg_missing` or `ffmpeg_failed`.
 */
export async function encodeVideo(options: EncodeVideoOptions): Promise<EncodedVideo> {
  checkOptions(options);
  const ffmpeg = options.ffmpeg ?? (await findFfmpeg());
  return writeThroughTemporary(options.path, async (temporary) => {
    const args = encoderArguments(options, temporary);
    const run = startFfmpeg(ffmpeg, args, { input: true, extraPipes: 2, signal: options.signal });
    run.child.stdout?.resume();
    try {
      const { frames, sha256 } = await feed(run, options);
      await settle(run, options);
      await verify(temporary, options, frames);
      if (typeof options.metadata === 'function') {
        await replaceInIndex(temporary, options.metadata(unknownHash), options.metadata(sha256));
      }
      const { width, height } = evenSize(options);
      return { path: options.path, bytes: (await stat(temporary)).size, frames, sha256, width, height, ffmpeg };
    } finally {
      run.kill();
      await run.ended;
    }
  });
}

function checkOptions({ path, fps, width, height, sound, ...rest }: EncodeVideoOptions): void {
  const metadata = initialText(rest) ?? '';
  const refuse = (message: string): never => {
    throw new MediaError('invalid_argument', `Cannot encode ${path}: ${message}`);
  };
  if (![width, height].every((side) => Number.isInteger(side) && side >= 1 && side <= 16384)) {
    refuse(`${width}x${height} is not a size from 1x1 to 16384x16384.`);
  }
  if (!Number.isFinite(fps) || fps < 0.001 || fps > 1000) refuse(`${fps} frames per second; give 0.001 to 1000.`);
  const bytes = Buffer.byteLength(metadata);
  if (bytes > maxMetadataBytes) refuse(`metadata has ${bytes} bytes, the limit is ${maxMetadataBytes}.`);
  if (metadata.includes('\0')) refuse('metadata contains a NUL character.');
  const lengths = new Set(sound?.channels.map((channel) => channel.length));
  if (sound && (sound.channels.length < 1 || sound.channels.length > 2 || lengths.size !== 1 || lengths.has(0))) {
    refuse(`sound has ${sound.channels.length} channels of ${[...lengths]} samples; give one or two of equal length.`);
  }
}

function encoderArguments(options: EncodeVideoOptions, output: string): string[] {
  const { width, height } = evenSize(options);
  const rate = fractionText(toFraction(options.fps));
  // Frames are taken in while earlier ones are encoded: whoever makes them can go on.
  const ahead = Math.min(512, Math.max(8, Math.floor(readAheadBytes / (width * height * 3))));
  const video = [
    ...['-thread_queue_size', String(ahead), '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', `${width}x${height}`],
    ...['-r', rate, '-i', 'pipe:0'],
  ];
  const sound = options.sound && ['-f', 'f32le', '-ar', String(options.sound.sampleRate), '-ac', '2', '-i', 'pipe:3'];
  // A WAV header carries the text: old builds cut the lines of an ffmetadata file after a thousand characters.
  const text = options.metadata === undefined ? undefined : ['-f', 'wav', '-i', 'pipe:4'];
  return [
    ...['-v', 'error', '-y', ...video, ...(sound ?? []), ...(text ?? []), '-map', '0:v:0'],
    ...(sound ? ['-map', '1:a:0', '-c:a', 'aac', '-b:a', '192k', '-ar', '48000', '-ac', '2'] : []),
    ...['-map_metadata', text ? (sound ? '2' : '1') : '-1'],
    ...['-vf', 'scale=out_color_matrix=bt709:out_range=tv:flags=bicubic+accurate_rnd+full_chroma_int+bitexact'],
    ...['-pix_fmt', 'yuv420p', '-c:v', 'libx264', ...codecArguments(options)],
    ...['-color_primaries', 'bt709', '-color_trc', 'bt709', '-colorspace', 'bt709', '-color_range', 'tv'],
    ...['-fflags', '+bitexact', '-flags:v', '+bitexact', '-flags:a', '+bitexact'],
    ...['-movflags', '+faststart', '-f', 'mp4', `file:${output}`],
  ];
}

/** The text as far as it is known before the frames are. */
function initialText({ metadata }: Pick<EncodeVideoOptions, 'metadata'>): string | undefined {
  return typeof metadata === 'function' ? metadata(unknownHash) : metadata;
}

/** Writes all inputs, each to its pipe. */
async function feed(run: FfmpegRun, options: EncodeVideoOptions): Promise<Fed> {
  const [input, , , soundPipe, textPipe] = run.child.stdio;
  const gone = run.ended.then(() => 'gone' as const);
  if (isWritable(soundPipe)) {
    const samples = options.sound;
    if (samples) void writeSound(soundPipe, samples, gone);
    else soundPipe.destroy();
  }
  if (isWritable(textPipe)) {
    const text = initialText(options);
    if (text === undefined) textPipe.destroy();
    else textPipe.end(carrier(text));
  }
  if (!isWritable(input)) throw new MediaError('ffmpeg_failed', `Cannot encode ${options.path}: ffmpeg did not start.`);
  return writeFrames(input, options, gone);
}

interface Fed {
  readonly frames: number;
  readonly sha256: string;
}

type Gone = Promise<'gone'>;

async function writeFrames(pipe: Writable, options: EncodeVideoOptions, gone: Gone): Promise<Fed> {
  const { width, height } = options;
  const hash = createHash('sha256');
  const iterator = options.frames[Symbol.asyncIterator]();
  let frames = 0;
  let exhausted = false;
  try {
    while (true) {
      const next = await Promise.race([iterator.next(), gone]);
      if (next === 'gone') break;
      if (next.done) {
        exhausted = true;
        if (frames > 0) break;
        throw new MediaError('invalid_argument', `Cannot encode ${options.path}: there are no frames.`);
      }
      if (next.value.length !== width * height * 3) {
        throw new MediaError(
          'invalid_argument',
          `Frame ${frames} has ${next.value.length} bytes; ${width}x${height} RGB needs ${width * height * 3}.`,
        );
      }
      hash.update(next.value);
      if (!(await write(pipe, padToEven(next.value, width, height), gone))) break;
      frames++;
    }
  } finally {
    // Not awaited: a source that is busy would hold up the error that ended the loop.
    if (!exhausted) iterator.return?.()?.catch(() => undefined);
    pipe.end();
  }
  return { frames, sha256: hash.digest('hex') };
}

/** Interleaves and writes a second at a time; a single channel goes to both sides. */
async function writeSound(pipe: Writable, { channels, sampleRate }: Waveform, gone: Gone): Promise<void> {
  const left = channels[0] ?? new Float32Array(0);
  const right = channels[1] ?? left;
  for (let from = 0; from < left.length; from += sampleRate) {
    const length = Math.min(sampleRate, left.length - from);
    const block = Buffer.alloc(length * 8);
    for (let i = 0; i < length; i++) {
      block.writeFloatLE(left[from + i] as number, 8 * i);
      block.writeFloatLE(right[from + i] as number, 8 * i + 4);
    }
    if (!(await write(pipe, block, gone))) break;
  }
  pipe.end();
}

/** Resolves when the bytes have left; false if the reader is gone. */
async function write(pipe: Writable, bytes: Uint8Array, gone: Gone): Promise<boolean> {
  if (pipe.destroyed) return false;
  const written = new Promise<boolean>((resolve) => pipe.write(bytes, (error) => resolve(!error)));
  return (await Promise.race([written, gone])) === true;
}

/** Waits for the end and turns a bad one into its error. */
async function settle(run: FfmpegRun, { path, signal }: EncodeVideoOptions): Promise<void> {
  const { code, signal: killed } = await run.ended;
  if (signal?.aborted) throw new MediaError('aborted', `Writing ${path} was stopped.`);
  // Old and new builds alike may end with 0 on a full disk.
  const said = run.errors();
  if (/No space left|File too large|Disk quota/i.test(said) || killed === 'SIGXFSZ') {
    throw new MediaError('disk_full', `Cannot write ${path}: no space left. Free some or write elsewhere.`);
  }
  if (code === 0) return;
  const why = killed ? `ended by ${killed}` : summarizeErrors(said);
  throw new MediaError('ffmpeg_failed', `Cannot encode ${path}: ffmpeg failed (${why}).`);
}

/** Holds the file's index against what was fed: a disk that fills can go unnoticed by the encoder. */
async function verify(file: string, { path, sound }: EncodeVideoOptions, frames: number): Promise<void> {
  const { complete, tracks } = await readMp4(file);
  const stored = tracks.find(({ kind }) => kind === 'video')?.samples ?? 0;
  const hasSound = tracks.some(({ kind }) => kind === 'sound');
  if (complete && stored === frames && hasSound === (sound !== undefined)) return;
  throw new MediaError('ffmpeg_failed', `Cannot encode ${path}: ${stored} of ${frames} frames arrived in the file.`);
}

/** A WAV file of one silent sample whose comment is `text`. */
function carrier(text: string): Uint8Array {
  return encodeWav({ sampleRate: 8000, channels: [new Float32Array(1)] }, { metadata: text });
}

function evenSize({ width, height }: { readonly width: number; readonly height: number }): {
  width: number;
  height: number;
} {
  return { width: width + (width % 2), height: height + (height % 2) };
}

/** Repeats the last column and row of an odd-sized frame; others are passed through. */
function padToEven(frame: Uint8Array, width: number, height: number): Uint8Array {
  const even = evenSize({ width, height });
  if (even.width === width && even.height === height) return frame;
  const out = new Uint8Array(even.width * even.height * 3);
  for (let y = 0; y < even.height; y++) {
    const row = frame.subarray(Math.min(y, height - 1) * width * 3).subarray(0, width * 3);
    out.set(row, y * even.width * 3);
    if (even.width > width) out.set(row.subarray(-3), (y * even.width + width) * 3);
  }
  return out;
}

function isWritable(pipe: unknown): pipe is Writable {
  return typeof pipe === 'object' && pipe !== null && 'write' in pipe && 'end' in pipe;
}
