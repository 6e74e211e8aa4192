// Scenes in which a disc pushes a square to a ring (pusht), and the simulator that plays its actions.
import type { RobotScene } from './arms.js';
import { between, distance, ease, type Point, tracksOf } from './ease.js';
import type { Random } from './random.js';
import { type Color, colorNames, colors, primitive } from './scene.js';
import { larger, scaled } from './units.js';

const [width, height] = [320, 192];
const [half, radius] = [17, 9];
const contact = half + radius;
/** The block is there when its centre is within this of the ring's. */
const goalRadius = 24;

/** Parts of a frame in which a push is played. */
const parts = 16;

/**
 * A disc pushes another that sticks to it: the pusher's places by frame -> the block's. While they touch, the block goes along with the
 * pusher; it slides aside only where the pusher would enter it, and stays where the pusher leaves it.
 */
export function simulatePush(pusher: readonly Point[], block: Point): readonly Point[] {
  let place = block;
  return pusher.map((to, frame) => {
    const from = pusher[frame - 1] ?? to;
    const step: Point = [(to[0] - from[0]) / parts, (to[1] - from[1]) / parts];
    for (let part = 1; part <= parts; part++) {
      const at: Point = [from[0] + step[0] * part, from[1] + step[1] * part];
      if (distance(place, at) >= contact) continue;
      place = [place[0] + step[0], place[1] + step[1]];
      place = between(at, place, Math.max(1, contact / Math.max(distance(place, at), 1e-6)));
    }
    return place;
  });
}

/** A scene whose pusher goes behind the square and pushes it into the ring. */
export function drawPushScene(random: Random, frames = 25): RobotScene {
  const ground = random.pick(['white', 'grey', 'sky', 'sand'] as const);
  const [color, ring] = random.distinct(2, colorNames.length).map((i) => colorNames[i] as Color) as [Color, Color];
  const point = (): Point => [random.uniform(50, width - 50), random.uniform(50, height - 50)];
  let [block, goal] = [point(), point()];
  while (distance(block, goal) <= 60 || distance(block, goal) >= 170) [block, goal] = [point(), point()];
  const length = distance(block, goal);
  const toward: Point = [(goal[0] - block[0]) / length, (goal[1] - block[1]) / length];
  const along = (from: Point, by: number): Point => [from[0] + toward[0] * by, from[1] + toward[1] * by];
  const behind = along(block, -contact - 6);
  const aside = random.uniform(0, 40) * (random.chance(0.5) ? 1 : -1);
  const back = along(behind, -random.uniform(5, 40));
  const inside = (v: number, size: number) => Math.min(Math.max(v, 14), size - 14);
  const start: Point = [inside(back[0] - toward[1] * aside, width), inside(back[1] + toward[0] * aside, height)];
  const n = frames - 1;
  const first = Math.round(0.33 * n);
  const end = along(goal, -contact);
  const pusher = Array.from({ length: frames }, (_, frame) =>
    frame <= first ? between(start, behind, ease(frame, first)) : between(behind, end, ease(frame - first, n - first)),
  );
  const still = { shaded: false } as const;
  return {
    width,
    height,
    frames,
    ground,
    primitives: [
      primitive(frames, {
        ...still,
        kind: 'ring',
        color: colors[ring],
        x: goal[0],
        y: goal[1],
        halfWidth: 24,
        depth: 0.3,
        marker: 0,
      }),
      primitive(frames, {
        kind: 'square',
        color: colors[color],
        ...tracksOf(simulatePush(pusher, block)),
        halfWidth: half,
        depth: 0.6,
        marker: 1,
      }),
      primitive(frames, {
        ...still,
        kind: 'ball',
        color: [0.2, 0.2, 0.22],
        ...tracksOf(pusher),
        halfWidth: radius,
        depth: 0.8,
        marker: 2,
      }),
    ],
    camera: null,
    ticks: [],
    domain: 'pusht',
    actionSize: 2,
    actions: scaled(
      pusher.slice(1).map(([x, y]) => [x / (width / 2) - 1, y / (height / 2) - 1]),
      'pusht',
      larger,
    ),
    instruction: random
      .pick(['Push the {a} to the {b}.', 'Push the {a} into the {b}.', 'Move the {a} to the {b}.'])
      .replace('{a}', `${color} square`)
      .replace('{b}', `${ring} ring`),
    color,
    execute: (rows) => {
      const path: Point[] = [
        start,
        ...scaled(rows, 'pusht', 1 / larger).map(
          (row): Point => [((row[0] ?? 0) + 1) * (width / 2), ((row[1] ?? 0) + 1) * (height / 2)],
        ),
      ];
      const miss = distance(simulatePush(path, block).at(-1) ?? block, goal);
      return { miss, done: miss < goalRadius };
    },
  };
}
