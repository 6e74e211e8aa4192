// Frames, sound and ffmpeg builds for tests of video files.
import { expect } from 'vitest';
import { MediaError } from '../src/media/media-error.js';
import type { Waveform } from '../src/media/types.js';
import { bundledPath, type Ffmpeg, findFfmpeg } from '../src/media/video/ffmpeg.js';

/** Size of the sample frames. */
export const width = 64;
export const height = 48;

/** The build found first and, where there are both, the old one of the optional package: files must suit either. */
export async function findBuilds(): Promise<[Ffmpeg, ...Ffmpeg[]]> {
  const first = await findFfmpeg();
  const bundled = bundledPath();
  if (bundled === null || first.origin !== 'system') return [first];
  return [first, await findFfmpeg({ path: bundled })];
}

/** A frame whose left half has grey level 10·i + 20 and whose right half is saturated red. */
export function frame(i: number, w = width, h = height): Uint8Array {
  const data = new Uint8Array(w * h * 3);
  for (let p = 0; p < w * h; p++) {
    if (p % w < w / 2) data.fill(10 * i + 20, 3 * p, 3 * p + 3);
    else data[3 * p] = 255;
  }
  return data;
}

export async function* frames(count: number, w = width, h = height): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) yield frame(i, w, h);
}

/** Mean of a channel over the columns `from` … `to`-1 of a frame `w` wide. */
export function mean(data: Uint8Array, w: number, from: number, to: number, channel: number): number {
  let sum = 0;
  let count = 0;
  for (let p = 0; p < data.length / 3; p++) {
    if (p % w < from || p % w >= to) continue;
    sum += data[3 * p + channel] as number;
    count++;
  }
  return sum / count;
}

/** A 440 Hz tone of one second on the left, silence on the right. */
export function tone(sampleRate = 48000): Waveform {
  const left = Float32Array.from(
    { length: sampleRate },
    (_, i) => 0.5 * Math.sin((2 * Math.PI * 440 * i) / sampleRate),
  );
  return { sampleRate, channels: [left, new Float32Array(sampleRate)] };
}

/** The MediaError, on one line, that `promise` must reject with. */
export async function failure(promise: Promise<unknown>): Promise<MediaError> {
  const error = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof MediaError)) throw error;
  expect(error.message).not.toContain('\n');
  return error;
}
