// From places in space to places in a picture: turned, seen from far away, fitted into a square.
import type { Point3 } from './action-path.js';

/** Where one looks from, in radians. At 0, 0 x points right, y down and z away. */
export interface Viewpoint {
  readonly yaw: number;
  readonly pitch: number;
}

/** Middle and radius of the ball that holds all points: what a picture has to show whichever way it is turned. */
export interface Ball {
  readonly middle: Point3;
  /** Above 0. */
  readonly radius: number;
}

/** The ball about the box of the points; of radius 1 where they are a single place. */
export function ballOf(points: readonly Point3[]): Ball {
  const low = [0, 1, 2].map((axis) => points.reduce((least, point) => Math.min(least, point[axis] ?? 0), Infinity));
  const high = [0, 1, 2].map((axis) => points.reduce((most, point) => Math.max(most, point[axis] ?? 0), -Infinity));
  const at = (axis: number) => (points.length === 0 ? 0 : ((low[axis] ?? 0) + (high[axis] ?? 0)) / 2);
  const middle: Point3 = [at(0), at(1), at(2)];
  const radius = points.reduce(
    (most, [x, y, z]) => Math.max(most, Math.hypot(x - middle[0], y - middle[1], z - middle[2])),
    0,
  );
  return { middle, radius: radius > 0 ? radius : 1 };
}

/** Paths in a plane are looked at from the front, others from the side and above. */
export function firstViewpoint(points: readonly Point3[]): Viewpoint {
  const { middle, radius } = ballOf(points);
  const isFlat = points.every(([, , z]) => Math.abs(z - middle[2]) < 0.01 * radius);
  return isFlat ? { yaw: 0, pitch: 0 } : { yaw: -0.6, pitch: 0.4 };
}

/**
 * A place in the picture.
 * @param size side of the square picture; the ball fills it but for a margin of a tenth
 * @returns x to the right, y down
 */
export function project([x, y, z]: Point3, { yaw, pitch }: Viewpoint, { middle, radius }: Ball, size: number) {
  const [dx, dy, dz] = [x - middle[0], y - middle[1], z - middle[2]];
  const across = dx * Math.cos(yaw) + dz * Math.sin(yaw);
  const away = dz * Math.cos(yaw) - dx * Math.sin(yaw);
  const down = dy * Math.cos(pitch) - away * Math.sin(pitch);
  const scale = (size * 0.4) / radius;
  return { x: size / 2 + across * scale, y: size / 2 + down * scale };
}

/** The viewpoint after a turn; the pitch stays short of straight up and down. */
export function turnBy({ yaw, pitch }: Viewpoint, byYaw: number, byPitch: number): Viewpoint {
  const limit = Math.PI / 2;
  const turned = (yaw + byYaw) % (2 * Math.PI);
  return { yaw: turned, pitch: Math.max(-limit, Math.min(limit, pitch + byPitch)) };
}
