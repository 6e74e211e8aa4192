// How robots of the toy world move: eased runs and bent lines.
import { type Track, track } from './scene.js';

export type Point = readonly [x: number, y: number];

export const distance = (a: Point, b: Point): number => Math.hypot(a[0] - b[0], a[1] - b[1]);

/** Share of an eased run of `length` frames done at `frame`: 0 … 1, slow at both ends. */
export function ease(frame: number, length: number): number {
  return 0.5 - 0.5 * Math.cos((Math.PI * Math.min(Math.max(frame, 0), length)) / length);
}

/** The point a share of the way from one to another. */
export function between(from: Point, to: Point, share: number): Point {
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
}

/** Points by frame as two tracks. */
export function tracksOf(points: readonly Point[]): { readonly x: Track; readonly y: Track } {
  const at = (axis: 0 | 1) => track(points.length, (frame) => (points[frame] as Point)[axis]);
  return { x: at(0), y: at(1) };
}
