// How one object moves through a clip.
import type { RgbClip } from '../../../src/media/index.js';
import type { Direction, Rgb } from '../scenes/scene.js';
import { type Blob, findObject, maskColor, measureMask, splitMask } from './objects.js';

/** The largest thing on the ground, by frame; null in frames without one. */
export function followObject(clip: RgbClip): readonly (Blob | null)[] {
  return Array.from({ length: clip.frames }, (_, frame) => findObject(clip, frame)?.blob ?? null);
}

/** The largest thing of a colour, by frame; null in frames without one. */
export function followColor(clip: RgbClip, color: Rgb): readonly (Blob | null)[] {
  return Array.from({ length: clip.frames }, (_, frame) => {
    const [mask] = splitMask(maskColor(clip, frame, color), 12);
    return mask === undefined ? null : measureMask(mask);
  });
}

const isSeen = (blob: Blob | null): blob is Blob => blob !== null;

/** First and last sight of an object; null where there are not two. */
export function shiftOf(
  path: readonly (Blob | null)[],
): { readonly dx: number; readonly dy: number; readonly frames: number } | null {
  const first = path.findIndex(isSeen);
  const last = path.findLastIndex(isSeen);
  const [from, to] = [path[first], path[last]];
  if (!from || !to || last === first) return null;
  return { dx: to.x - from.x, dy: to.y - from.y, frames: last - first };
}

/** The way in which it went farther; null where it stayed within `least` pixels. */
export function directionOf(path: readonly (Blob | null)[], least = 4): Direction | null {
  const shift = shiftOf(path);
  if (shift === null || Math.max(Math.abs(shift.dx), Math.abs(shift.dy)) < least) return null;
  if (Math.abs(shift.dx) > Math.abs(shift.dy)) return shift.dx > 0 ? 'right' : 'left';
  return shift.dy > 0 ? 'down' : 'up';
}

/** Pixels a frame along the way in which it went farther; 0 where nothing was followed. */
export function speedOf(path: readonly (Blob | null)[]): number {
  const shift = shiftOf(path);
  return shift === null ? 0 : Math.max(Math.abs(shift.dx), Math.abs(shift.dy)) / shift.frames;
}

/**
 * Frames (fractional) at which a coordinate turns sharply back: between two runs of at least `least` pixels in opposite ways.
 * The turn is where the lines through the two points before and after it meet, if that is near.
 */
export function turnsOf(values: readonly number[], least = 1): readonly number[] {
  const turns: number[] = [];
  for (let i = 1; i < values.length - 1; i++) {
    const [before, after] = [
      (values[i] as number) - (values[i - 1] as number),
      (values[i + 1] as number) - (values[i] as number),
    ];
    if (before * after >= 0 || Math.abs(before) < least || Math.abs(after) < least) continue;
    turns.push(i);
  }
  return turns;
}

/** Frames at which an object that falls is lowest: local greatest y that lies in the lower part of its way. */
export function bouncesOf(path: readonly (Blob | null)[]): readonly number[] {
  const ys = path.map((blob) => blob?.y ?? Number.NaN);
  const [low, high] = [Math.min(...ys.filter(Number.isFinite)), Math.max(...ys.filter(Number.isFinite))];
  const found: number[] = [];
  for (let i = 1; i < ys.length - 1; i++) {
    const [a, b, c] = [ys[i - 1] as number, ys[i] as number, ys[i + 1] as number];
    const isLow = b > low + 0.7 * (high - low);
    if (isLow && b >= a && b > c && b - Math.min(a, c) > 1) found.push(i);
  }
  return found;
}

/** Angle in radians by which an object goes around a point, clockwise on the screen above 0. */
export function turnAround(path: readonly (Blob | null)[], x: number, y: number): number {
  const angles = path.filter(isSeen).map((blob) => Math.atan2(blob.y - y, blob.x - x));
  let sum = 0;
  for (let i = 1; i < angles.length; i++) {
    const step = (angles[i] as number) - (angles[i - 1] as number);
    sum += Math.atan2(Math.sin(step), Math.cos(step));
  }
  return sum;
}
