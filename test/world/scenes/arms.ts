// Scenes with an arm over two objects and two rings, and the simulator that plays its actions.
// bridge_orig_lerobot: a gantry, ten numbers; droid_lerobot: two links, ten numbers, or eight (joint angles).
import { between, distance, ease, type Point, tracksOf } from './ease.js';
import type { Random } from './random.js';
import {
  type Color,
  colorNames,
  colors,
  type Primitive,
  primitive,
  type Rgb,
  type Scene,
  shapes,
  track,
} from './scene.js';
import { larger, scaled } from './units.js';

export type ArmKind = 'bridge' | 'droid' | 'droid-joints';

export interface RobotScene extends Scene {
  readonly domain: string;
  readonly actionSize: number;
  /** Row i leads from frame i to frame i + 1. */
  readonly actions: readonly (readonly number[])[];
  readonly instruction: string;
  /** Colour of the object that is moved; null where none is. */
  readonly color: Color | null;
  /** Pixels by which executed actions miss the task's goal, and whether that is near enough; null where there is no goal. */
  readonly execute:
    | ((actions: readonly (readonly number[])[]) => { readonly miss: number; readonly done: boolean })
    | null;
}

const link = 105;
/** Pixels of one unit of an arm's step. */
const unit = 16;
const grabRadius = 14;
const ringRadius = 21;

interface Pose {
  readonly tip: Point;
  readonly gripper: number;
}

/**
 * Where things end when an arm moves through `poses` (one a frame): the gripper (1 open) takes the nearest thing within 14 px
 * of its tip when it closes. Returns places by frame and thing.
 */
export function simulateArm(poses: readonly Pose[], things: readonly Point[]): readonly (readonly Point[])[] {
  let places = [...things];
  let held: number | null = null;
  return poses.map(({ tip, gripper }, frame) => {
    const before = poses[frame - 1];
    if (before === undefined) return places;
    if (gripper >= 0.5) held = null;
    else if (held === null) {
      const gaps = places.map((place) => distance(place, tip));
      const nearest = Math.min(...gaps);
      held = nearest < grabRadius ? gaps.indexOf(nearest) : null;
    }
    const step: Point = [tip[0] - before.tip[0], tip[1] - before.tip[1]];
    places = places.map((place, i) => (i === held ? [place[0] + step[0], place[1] + step[1]] : place));
    return places;
  });
}

/** Shoulder (from straight up) and elbow of the two-link arm with its tip at a point. */
export function jointsOf(tip: Point, shoulderAt: Point): readonly [shoulder: number, elbow: number] {
  const [dx, dy] = [tip[0] - shoulderAt[0], shoulderAt[1] - tip[1]];
  const reach = Math.min(Math.max(Math.hypot(dx, dy), 1), 2 * link - 1e-3);
  const elbow = Math.PI - Math.acos(1 - reach ** 2 / (2 * link ** 2));
  return [Math.atan2(dx, dy) - elbow / 2, elbow];
}

/** The tip of the two-link arm; undoes `jointsOf`. */
export function tipOf(shoulder: number, elbow: number, shoulderAt: Point): Point {
  return [
    shoulderAt[0] + link * (Math.sin(shoulder) + Math.sin(shoulder + elbow)),
    shoulderAt[1] - link * (Math.cos(shoulder) + Math.cos(shoulder + elbow)),
  ];
}

function pickAndPlace(frames: number, start: Point, thing: Point, goal: Point): Pose[] {
  const n = frames - 1;
  const [reach, close, carry] = [Math.round(0.36 * n), Math.round(0.44 * n), Math.round(0.82 * n)];
  return Array.from({ length: frames }, (_, frame) => ({
    tip:
      frame <= close
        ? between(start, thing, ease(frame, reach))
        : between(thing, goal, ease(frame - close, carry - close)),
    gripper: frame > reach && frame <= carry ? 0 : 1,
  }));
}

function apart(random: Random, count: number, low: Point, high: Point, least: number): Point[] {
  for (;;) {
    const points = Array.from(
      { length: count },
      (): Point => [random.uniform(low[0], high[0]), random.uniform(low[1], high[1])],
    );
    if (points.every((a, i) => points.every((b, j) => i === j || distance(a, b) >= least))) return points;
  }
}

const armColor: Rgb = [0.28, 0.28, 0.32];
const fingerColor: Rgb = [0.15, 0.15, 0.18];

function drawArm(kind: ArmKind, poses: readonly Pose[], shoulderAt: Point): Primitive[] {
  const frames = poses.length;
  const { x, y } = tracksOf(poses.map(({ tip }) => tip));
  const opening = track(frames, (frame) => 10 + 7 * (poses[frame] as Pose).gripper);
  const look = { kind: 'box', depth: 0.9, marker: 4, shaded: false } as const;
  const parts: Primitive[] = [];
  if (kind === 'bridge') {
    parts.push(
      primitive(frames, {
        ...look,
        color: armColor,
        x,
        y: y.map((v) => (v - 24) / 2 - 10),
        halfWidth: 5,
        halfHeight: y.map((v) => (v - 24) / 2 + 10),
      }),
      primitive(frames, {
        ...look,
        color: armColor,
        x,
        y: y.map((v) => v - 22),
        halfWidth: opening.map((v) => v + 3),
        halfHeight: 4,
      }),
    );
  } else {
    const joints = poses.map(({ tip }) => jointsOf(tip, shoulderAt));
    const shoulder = track(frames, (frame) => (joints[frame] as readonly [number, number])[0]);
    const sum = track(frames, (frame) => (shoulder[frame] as number) + (joints[frame] as readonly [number, number])[1]);
    const kneeX = shoulder.map((angle) => shoulderAt[0] + link * Math.sin(angle));
    const kneeY = shoulder.map((angle) => shoulderAt[1] - link * Math.cos(angle));
    parts.push(
      primitive(frames, {
        ...look,
        color: armColor,
        x: kneeX.map((v) => (v + shoulderAt[0]) / 2),
        y: kneeY.map((v) => (v + shoulderAt[1]) / 2),
        halfWidth: 6,
        halfHeight: link / 2,
        angle: shoulder,
      }),
      primitive(frames, {
        ...look,
        color: [0.38, 0.38, 0.44],
        x: kneeX.map((v, i) => (v + (x[i] as number)) / 2),
        y: kneeY.map((v, i) => (v + (y[i] as number)) / 2),
        halfWidth: 5,
        halfHeight: link / 2 - 6,
        angle: sum,
      }),
    );
  }
  const fingers = [-1, 1].map((side) =>
    primitive(frames, {
      ...look,
      color: fingerColor,
      depth: 0.95,
      x: x.map((v, i) => v + side * (opening[i] as number)),
      y: y.map((v) => v - 8),
      halfWidth: 3,
      halfHeight: 11,
    }),
  );
  return [...parts, ...fingers];
}

/** A scene in which an arm puts one of two objects on one of two rings. */
export function drawArmScene(random: Random, kind: ArmKind, frames = 25): RobotScene {
  const [width, height] = [320, 192];
  const isGantry = kind === 'bridge';
  const shoulderAt: Point = [width / 2, height + 8];
  const high: Point = [width - 45, height - (isGantry ? 30 : 55)];
  const points = apart(random, 4, [45, 60], high, isGantry ? 50 : 44);
  const looks = random.distinct(4, colorNames.length).map((i) => colorNames[i] as Color);
  const kinds = [shapes[random.below(3)], shapes[random.below(3)]];
  const start: Point = [random.uniform(60, width - 60), random.uniform(28, 60)];
  const [thing, plate] = [random.below(2), random.below(2)];
  const goal = points[2 + plate] as Point;
  const things = points.slice(0, 2);
  const poses = pickAndPlace(frames, start, points[thing] as Point, goal);
  const places = simulateArm(poses, things);
  const rings = [2, 3].map((i) =>
    primitive(frames, {
      kind: 'ring',
      color: colors[looks[i] as Color],
      x: (points[i] as Point)[0],
      y: (points[i] as Point)[1],
      halfWidth: ringRadius,
      depth: 0.3,
      marker: i - 2,
      shaded: false,
    }),
  );
  const objects = [0, 1].map((i) =>
    primitive(frames, {
      kind: kinds[i] ?? 'ball',
      color: colors[looks[i] as Color],
      ...tracksOf(places.map((at) => at[i] as Point)),
      halfWidth: 12,
      depth: 0.6,
      marker: 2 + i,
    }),
  );
  const actions = poses.slice(1).map(({ tip, gripper }, i) => {
    if (kind === 'droid-joints') {
      const [shoulder, elbow] = jointsOf(tip, shoulderAt);
      return [shoulder, elbow, -(shoulder + elbow), 0, 0, 0, 0, gripper];
    }
    const before = (poses[i] as Pose).tip;
    return [(tip[0] - before[0]) / unit, (tip[1] - before[1]) / unit, 0, 1, 0, 0, 0, 1, 0, gripper];
  });
  const numbers = kind === 'droid-joints' ? 'joints' : 'arm';
  const execute = (rows: readonly (readonly number[])[]) => {
    let tip = start;
    const played: Pose[] = [{ tip, gripper: 1 }];
    for (const row of scaled(rows, numbers, 1 / larger)) {
      const at = (i: number) => row[i] ?? 0;
      tip = kind === 'droid-joints' ? tipOf(at(0), at(1), shoulderAt) : [tip[0] + at(0) * unit, tip[1] + at(1) * unit];
      played.push({ tip, gripper: at(kind === 'droid-joints' ? 7 : 9) });
    }
    const end = simulateArm(played, things).at(-1)?.[thing] as Point;
    const miss = distance(end, goal);
    return { miss, done: miss < ringRadius };
  };
  const verb = random.pick([
    'Put the {a} on the {b}.',
    'Pick up the {a} and place it on the {b}.',
    'Move the {a} to the {b}.',
  ]);
  return {
    width,
    height,
    frames,
    ground: isGantry ? 'sand' : 'grey',
    primitives: [...rings, ...objects, ...drawArm(kind, poses, shoulderAt)],
    camera: null,
    ticks: [],
    domain: isGantry ? 'bridge_orig_lerobot' : 'droid_lerobot',
    actionSize: kind === 'droid-joints' ? 8 : 10,
    actions: scaled(actions, numbers, larger),
    instruction: verb.replace('{a}', `${looks[thing]} ${kinds[thing]}`).replace('{b}', `${looks[2 + plate]} ring`),
    color: looks[thing] as Color,
    execute,
  };
}
