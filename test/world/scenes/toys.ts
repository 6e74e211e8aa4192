// Scenes of shapes that move: straight, bouncing, orbiting, growing, shrinking, colliding; one or two of them.
import type { Random } from './random.js';
import {
  type Background,
  backgroundNames,
  type Color,
  colorNames,
  colors,
  type Direction,
  directions,
  framesPerSecond,
  isHeldOut,
  primitive,
  type Scene,
  type Shape,
  type Speed,
  shapes,
  type Tick,
  type Track,
  tickPitch,
  track,
} from './scene.js';

export const motions = ['straight', 'bounce', 'walls', 'orbit', 'grow', 'shrink', 'collide', 'pair'] as const;
export type Motion = (typeof motions)[number];

export interface Toy {
  readonly color: Color;
  readonly shape: Shape;
  readonly direction: Direction;
}

export interface ToyScene extends Scene {
  readonly ground: Background;
  readonly motion: Motion;
  readonly speed: Speed;
  readonly toys: readonly Toy[];
  readonly spin: 'clockwise' | 'counterclockwise';
  /** Frames, fractional, at which something is hit. */
  readonly hits: readonly number[];
}

export interface ToyOptions {
  readonly motion?: Motion;
  readonly heldOut?: boolean;
  readonly width?: number;
  readonly height?: number;
  readonly frames?: number;
}

const steps: Readonly<Record<Direction, readonly [number, number]>> = {
  right: [1, 0],
  left: [-1, 0],
  up: [0, -1],
  down: [0, 1],
};

/** Way per frame as a share of the canvas side along it. */
export const speeds: Readonly<Record<Speed, number>> = { slowly: 0.008, quickly: 0.02 };

/** A coordinate folded between two walls. */
export function reflect(x: number, low: number, high: number): number {
  const span = high - low;
  const y = (((x - low) % (2 * span)) + 2 * span) % (2 * span);
  return low + (y > span ? 2 * span - y : y);
}

function drawToy(random: Random, heldOut: boolean | undefined, direction?: Direction, taken?: Color): Toy {
  for (;;) {
    const toy = {
      color: random.pick(colorNames),
      shape: random.pick(shapes),
      direction: direction ?? random.pick(directions),
    };
    const isOut = isHeldOut(toy.color, toy.shape, toy.direction);
    if (toy.color !== taken && (heldOut === undefined || isOut === heldOut)) return toy;
  }
}

interface Path {
  readonly x: Track;
  readonly y: Track;
}

/** A straight run that begins where all of it fits. */
function straightPath(random: Random, direction: Direction, speed: Speed, canvas: Canvas, radius: number): Path {
  const { width, height, frames } = canvas;
  const [dx, dy] = steps[direction];
  const [side, cross] = dx !== 0 ? [width, height] : [height, width];
  const step = speeds[speed] * side;
  const slack = Math.max(side - step * (frames - 1) - 2 * radius, 0);
  const along = radius + slack * random.uniform(0.1, 0.9);
  const start = dx + dy > 0 ? along : side - along;
  const run = track(frames, (frame) => reflect(start + (dx + dy) * step * frame, radius, side - radius));
  const level = track(frames, cross * random.uniform(0.3, 0.7));
  return dx !== 0 ? { x: run, y: level } : { x: level, y: run };
}

interface Canvas {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
}

/** One scene, everything not given by chance. `heldOut` keeps to combinations kept from training, or to the others. */
export function drawToyScene(random: Random, options: ToyOptions = {}): ToyScene {
  const { motion = random.pick(motions), heldOut, width = 320, height = 192, frames = 25 } = options;
  const canvas = { width, height, frames };
  const speed: Speed = random.chance(0.5) ? 'slowly' : 'quickly';
  const short = Math.min(width, height);
  const size = random.uniform(0.09, 0.15) * short;
  const hasWay = motion === 'straight' || motion === 'pair';
  const toys = [drawToy(random, heldOut, hasWay ? undefined : 'right')];
  const [toy] = toys as [Toy];
  const middle = { x: width * random.uniform(0.35, 0.65), y: height * random.uniform(0.35, 0.65) };
  const radii = [track(frames, size)];
  const hits: number[] = [];
  const ticks: Tick[] = [];
  let paths: Path[] = [];
  let spin: ToyScene['spin'] = 'counterclockwise';
  const hit = (frame: number, x: number) => {
    if (frame < 0 || frame > frames - 1) return;
    hits.push(frame);
    ticks.push({ second: frame / framesPerSecond, hertz: tickPitch[toy.color], pan: x / width });
  };
  switch (motion) {
    case 'straight':
      paths = [straightPath(random, toy.direction, speed, canvas, size)];
      break;
    case 'bounce': {
      const floor = height - size - 2;
      const top = random.uniform(0.12, 0.3) * height + size;
      const period = speed === 'quickly' ? 18 : 30;
      const first = random.uniform(0, period);
      const y = track(frames, (frame) => {
        const phase = ((frame + first) % period) / period;
        return floor - (floor - top) * 4 * phase * (1 - phase);
      });
      paths = [{ x: track(frames, middle.x), y }];
      for (let k = 0; k * period - first <= frames; k++) hit(k * period - first, middle.x);
      break;
    }
    case 'walls': {
      const [low, high] = [size + 1, width - size - 1];
      const step = (speed === 'quickly' ? 0.026 : 0.014) * width * (random.chance(0.5) ? 1 : -1);
      const start = random.uniform(low, high);
      const y = track(frames, height * random.uniform(0.3, 0.7));
      paths = [{ x: track(frames, (frame) => reflect(start + step * frame, low, high)), y }];
      for (let wall = -3; wall <= 4; wall++) {
        const at = low + wall * (high - low);
        hit((at - start) / step, wall % 2 === 0 ? 0 : width);
      }
      break;
    }
    case 'orbit': {
      const turn = ((2 * Math.PI) / (speed === 'quickly' ? 32 : 64)) * (random.chance(0.5) ? 1 : -1);
      spin = turn > 0 ? 'clockwise' : 'counterclockwise';
      const begin = random.uniform(0, 2 * Math.PI);
      const radius = short * 0.26;
      const x = track(frames, (frame) => width / 2 + radius * Math.cos(begin + turn * frame));
      paths = [{ x, y: track(frames, (frame) => height / 2 + radius * Math.sin(begin + turn * frame)) }];
      break;
    }
    case 'grow':
    case 'shrink': {
      const [small, large] = [0.07 * short, (speed === 'slowly' ? 0.2 : 0.32) * short];
      const share = (frame: number) => (frames === 1 ? 0 : frame / (frames - 1));
      const part = (frame: number) => (motion === 'grow' ? share(frame) : 1 - share(frame));
      radii[0] = track(frames, (frame) => small + (large - small) * part(frame));
      paths = [{ x: track(frames, middle.x), y: track(frames, middle.y) }];
      break;
    }
    case 'collide': {
      toys.push(drawToy(random, heldOut, 'left', toy.color));
      radii.push(track(frames, size));
      const at = random.uniform(0.35, 0.6) * (frames - 1);
      const step = (speed === 'quickly' ? 0.018 : 0.009) * width;
      const gap = (frame: number) => size + step * Math.abs(frame - at);
      const y = track(frames, middle.y);
      paths = [-1, 1].map((side) => ({ x: track(frames, (frame) => middle.x + side * gap(frame)), y }));
      hit(at, middle.x);
      break;
    }
    case 'pair': {
      toys.push(drawToy(random, heldOut, undefined, toy.color));
      const both = size * 0.85;
      radii[0] = radii[1] = track(frames, both);
      const isFlat = toy.direction === 'right' || toy.direction === 'left';
      paths = toys.map(({ direction }, i) => {
        const path = straightPath(random, direction, speed, canvas, both);
        const isRun = isFlat === (direction === 'right' || direction === 'left');
        const side = isFlat ? height : width;
        // Each keeps to its own half across the way of the first.
        const squeeze = (v: number) => (v / side) * (side / 2 - 2 * both) + both + (i === 1 ? side / 2 : 0);
        const held = (values: Track) => (isRun ? track(frames, side * (0.27 + 0.46 * i)) : values.map(squeeze));
        return isFlat ? { x: path.x, y: held(path.y) } : { x: held(path.x), y: path.y };
      });
      break;
    }
    default:
      motion satisfies never;
  }
  const primitives = paths.map(({ x, y }, i) => {
    const { color, shape } = toys[i] as Toy;
    const halfWidth = radii[i] as Track;
    return primitive(frames, { kind: shape, color: colors[color], x, y, halfWidth, depth: 0.75 + 0.2 * i, marker: i });
  });
  const ground = random.pick(backgroundNames);
  return { width, height, frames, ground, primitives, camera: null, ticks, motion, speed, toys, spin, hits };
}
