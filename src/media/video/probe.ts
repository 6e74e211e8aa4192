// What a video file holds, from the words of `ffmpeg -i` and, for MP4, from its index.
import { MediaError } from '../media-error.js';
import { requireType } from '../source.js';
import { type FfmpegOptions, findFfmpeg, startFfmpeg, summarizeErrors } from './ffmpeg.js';
import { type Fraction, ratePrintedAs, reduced } from './fraction.js';
import { type Mp4Summary, readMp4 } from './mp4-boxes.js';

export const videoTypes = ['mp4', 'webm', 'avi', 'gif'] as const;
export type VideoType = (typeof videoTypes)[number];

/** Demuxer of each type, named so that a file cannot choose one itself (a playlist could name other files). */
const demuxers: Readonly<Record<VideoType, string>> = { mp4: 'mov', webm: 'matroska', avi: 'avi', gif: 'gif' };

export interface VideoInfo {
  readonly type: VideoType;
  /** Upright, as frames are decoded. */
  readonly width: number;
  readonly height: number;
  /** Degrees clockwise that the stored frames are turned by to stand upright. */
  readonly rotation: 0 | 90 | 180 | 270;
  readonly rate: Fraction | null;
  /** `rate` as a number. */
  readonly fps: number | null;
  /** Exact for MP4 with an index, else from duration and rate; null if unknown. */
  readonly frames: number | null;
  /** Seconds. */
  readonly duration: number | null;
  readonly hasSound: boolean;
  readonly codec: string;
}

/** Arguments that open `path` for reading, and nothing else. */
export function inputArguments(type: VideoType, path: string): string[] {
  return ['-protocol_whitelist', 'file', '-f', demuxers[type], '-i', `file:${path}`];
}

/**
 * Size, rate, length and rotation of a video file.
 * Throws MediaError `missing_file`, `unsupported_type`, `truncated`, `unreadable` or `ffmpeg_missing`.
 */
export async function probeVideo(path: string, options: FfmpegOptions = {}): Promise<VideoInfo> {
  const type = await requireType(path, videoTypes, 'a video');
  const index = type === 'mp4' ? await readMp4(path) : null;
  if (index && !index.complete) throw cutShort(path);
  const ffmpeg = options.ffmpeg ?? (await findFfmpeg());
  const run = startFfmpeg(ffmpeg, inputArguments(type, path));
  run.child.stdout?.resume();
  await run.ended;
  const info = parseProbe(run.errors(), type, index);
  if (info === null) {
    const why = summarizeErrors(run.errors());
    throw new MediaError('unreadable', `${path} has no video that can be decoded (${why}). Send another copy.`);
  }
  return info;
}

/** The error for a file that ends before it should. */
function cutShort(path: string): MediaError {
  return new MediaError('truncated', `${path} is cut short: it ends before its own index says. Send the whole file.`);
}

/** Reads the report of `ffmpeg -i`; null if it names no video stream with a size. */
export function parseProbe(report: string, type: VideoType, index: Mp4Summary | null): VideoInfo | null {
  const lines = report.split(/\r?\n/);
  const at = lines.findIndex((line) => /Stream #.*: Video: /.test(line) && !/\(attached pic\)/.test(line));
  const line = lines[at];
  const size = line && /, (\d+)x(\d+)[ ,[]/.exec(`${line} `);
  if (!line || !size) return null;
  const rotation = parseRotation(lines, at);
  const track = index?.tracks.find(({ kind, samples }) => kind === 'video' && samples > 0);
  const rate = (track?.delta ? reduced(track.timescale, track.delta) : null) ?? parseRate(line);
  const duration = parseDuration(report);
  const fps = rate && rate.numerator / rate.denominator;
  const estimate = fps !== null && duration !== null ? Math.max(1, Math.round(fps * duration)) : null;
  const [width, height] = rotation % 180 === 0 ? [size[1], size[2]] : [size[2], size[1]];
  return {
    type,
    width: Number(width),
    height: Number(height),
    rotation,
    rate,
    fps,
    frames: track?.samples ?? estimate,
    duration,
    hasSound: lines.some((other) => /Stream #.*: Audio: /.test(other)),
    codec: /: Video: (\w+)/.exec(line)?.[1] ?? 'unknown',
  };
}

function parseRate(line: string): Fraction | null {
  const printed = /, ([\d.]+)(k?) fps\b/.exec(line) ?? /, ([\d.]+)(k?) tbr\b/.exec(line);
  const value = printed ? Number(printed[1]) * (printed[2] === 'k' ? 1000 : 1) : 0;
  return value > 0 ? ratePrintedAs(value) : null;
}

function parseDuration(report: string): number | null {
  const [, hours, minutes, seconds] = /Duration: (\d+):(\d+):([\d.]+)/.exec(report) ?? [];
  return seconds === undefined ? null : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

/** Rotation stands in the lines that follow the stream's own, counted counter-clockwise there. */
function parseRotation(lines: readonly string[], at: number): VideoInfo['rotation'] {
  for (const line of lines.slice(at + 1)) {
    if (/Stream #/.test(line)) break;
    const degrees = /rotation of (-?[\d.]+) degrees/.exec(line)?.[1];
    if (degrees === undefined) continue;
    const quarter = ((Math.round(-Number(degrees) / 90) % 4) + 4) % 4;
    return ([0, 90, 180, 270] as const)[quarter] ?? 0;
  }
  return 0;
}
