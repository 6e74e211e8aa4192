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

export interface Turn {
  readonly frame: number;
  /** Whether the coordinate is greatest there; else it is least. */
  readonly isGreatest: boolean;
}

/** Frames at which a coordinate turns back: it came at least `least` pixels to there, and goes at least as far back. */
export function turnsOf(values: readonly number[], least = 3): readonly Turn[] {
  const turns: Turn[] = [];
  let [low, high] = [0, 0];
  let way = 0;
  const at = (frame: number) => values[frame] as number;
  for (let frame = 1; frame < values.length; frame++) {
    if (Number.isNaN(at(frame))) continue;
    if (Number.isNaN(at(low)) || at(frame) < at(low)) low = frame;
    if (Number.isNaN(at(high)) || at(frame) > at(high)) high = frame;
    if (way !== 1 && at(frame) - at(low) >= least) {
      if (way === -1) turns.push({ frame: low, isGreatest: false });
      [way, high] = [1, frame];
    } else if (way !== -1 && at(high) - at(frame) >= least) {
      if (way === 1) turns.push({ frame: high, isGreatest: true });
      [way, low] = [-1, frame];
    }
    if (way === 1) low = high;
    if (way === -1) high = low;
  }
  return turns;
}

const coordinate = (path: readonly (Blob | null)[], axis: 'x' | 'y') => path.map((blob) => blob?.[axis] ?? Number.NaN);

/** Turns of an object from side to side. */
export const turnsAcross = (path: readonly (Blob | null)[]): readonly Turn[] => turnsOf(coordinate(path, 'x'));

/** Frames at which an object that falls is lowest: turns that lie in the lower part of its way. */
export function bouncesOf(path: readonly (Blob | null)[]): readonly number[] {
  const ys = coordinate(path, 'y');
  const seen = ys.filter(Number.isFinite);
  const [low, high] = [Math.min(...seen), Math.max(...seen)];
  return turnsOf(ys)
    .filter(({ frame, isGreatest }) => isGreatest && (ys[frame] as number) > low + 0.7 * (high - low))
    .map(({ frame }) => frame);
}

/** How far the centre ranges along an axis, pixels; 0 where nothing is seen. */
function rangeOf(path: readonly (Blob | null)[], axis: 'x' | 'y'): number {
  const seen = coordinate(path, axis).filter(Number.isFinite);
  return seen.length === 0 ? 0 : Math.max(...seen) - Math.min(...seen);
}

/**
 * Whether an object goes up and down: it turns, below or above (a slow bounce takes longer than a clip, and then only its top is
 * seen), and hardly leaves the line.
 * @param height of the canvas
 */
export function goesUpAndDown(path: readonly (Blob | null)[], height: number): boolean {
  const way = rangeOf(path, 'y');
  return turnsOf(coordinate(path, 'y')).length > 0 && way > 0.15 * height && rangeOf(path, 'x') < way / 2;
}

/**
 * Whether an object runs between side walls: it turns, or (half of such clips end before a wall is reached) runs on to the end at
 * no less than `pace` pixels a frame.
 */
export function runsBetweenWalls(path: readonly (Blob | null)[], pace: number): boolean {
  const way = rangeOf(path, 'x');
  if (way < 2 * rangeOf(path, 'y')) return false;
  if (turnsAcross(path).length > 0) return true;
  const late = path.slice(-9);
  return way >= pace * (path.length - 1) && rangeOf(late, 'x') >= pace * (late.length - 1);
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
