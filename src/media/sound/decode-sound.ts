// The sound of a video or sound file, at the rate the model works at.
import { MediaError } from '../media-error.js';
import { requireType } from '../source.js';
import type { Waveform } from '../types.js';
import { type Ffmpeg, type FfmpegOptions, findFfmpeg, startFfmpeg, summarizeErrors } from '../video/ffmpeg.js';

/** Samples per second of decoded sound. */
export const soundRate = 48000;

export interface DecodeSoundOptions extends FfmpegOptions {
  /** Longest sound accepted, in seconds; 600 by default. */
  readonly maxSeconds?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Demuxer of each type, named so that a file cannot choose one itself. */
const demuxers = {
  mp4: 'mov',
  webm: 'matroska',
  avi: 'avi',
  wav: 'wav',
  mp3: 'mp3',
  ogg: 'ogg',
  flac: 'flac',
} as const;
const soundTypes = ['wav', 'mp3', 'ogg', 'flac', 'mp4', 'webm', 'avi'] as const;

/**
 * Sound as 48 kHz stereo float, [2][samples]; a single channel is on both sides. Null if the file has none.
 * Throws MediaError `missing_file`, `unsupported_type`, `too_large`, `unreadable`, `aborted` or `ffmpeg_missing`.
 */
export async function decodeSound(path: string, options: DecodeSoundOptions = {}): Promise<Waveform | null> {
  const { maxSeconds = 600, signal } = options;
  const type = await requireType(path, soundTypes, 'a file with sound');
  const ffmpeg = options.ffmpeg ?? (await findFfmpeg());
  const input = ['-protocol_whitelist', 'file', '-f', demuxers[type], '-i', `file:${path}`];
  const stream = await describeSound(ffmpeg, input, path);
  if (stream === null) return null;
  // ffmpeg would spread a single channel over two at 0.7 of its level.
  const channels = /, mono\b/.test(stream) ? ['-af', 'pan=stereo|c0=c0|c1=c0'] : ['-ac', '2'];
  const output = [
    '-map',
    '0:a:0',
    ...channels,
    '-ar',
    String(soundRate),
    '-f',
    'f32le',
    '-flags',
    '+bitexact',
    'pipe:1',
  ];
  const run = startFfmpeg(ffmpeg, ['-v', 'error', ...input, ...output], { signal });
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of run.child.stdout ?? []) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > maxSeconds * soundRate * 8) {
        throw new MediaError('too_large', `${path} has more than ${maxSeconds} seconds of sound. Cut it.`);
      }
    }
    const { code } = await run.ended;
    if (signal?.aborted) throw new MediaError('aborted', `Decoding ${path} was stopped.`);
    if (code !== 0) {
      throw new MediaError(
        'unreadable',
        `The sound of ${path} cannot be decoded (${summarizeErrors(run.errors())}). Send another copy.`,
      );
    }
  } finally {
    run.kill();
  }
  return bytes === 0 ? null : split(Buffer.concat(pieces));
}

/** ffmpeg's line about the first sound stream, or null if there is none. */
async function describeSound(ffmpeg: Ffmpeg, input: readonly string[], path: string): Promise<string | null> {
  const run = startFfmpeg(ffmpeg, input);
  run.child.stdout?.resume();
  await run.ended;
  const report = run.errors();
  if (!/^Input #0/m.test(report))
    throw new MediaError('unreadable', `${path} cannot be opened (${summarizeErrors(report)}). Send another copy.`);
  return /Stream #.*: Audio: .*/.exec(report)?.[0] ?? null;
}

function split(interleaved: Buffer): Waveform {
  const length = Math.floor(interleaved.length / 8);
  const channel = (offset: number): Float32Array =>
    Float32Array.from({ length }, (_, i) => interleaved.readFloatLE(8 * i + offset));
  return { sampleRate: soundRate, channels: [channel(0), channel(4)] };
}
