// What a scene of the toy world is: primitives with a place and size in every frame, a ground, ticks and actions.
// The world of tools/micro/world; the same tables, the same units (pixels, radians, seconds, hertz).

export type Rgb = readonly [red: number, green: number, blue: number];

export const colors = {
  red: [0.86, 0.16, 0.12],
  green: [0.1, 0.65, 0.2],
  blue: [0.13, 0.3, 0.85],
  yellow: [0.95, 0.8, 0.1],
  purple: [0.55, 0.2, 0.7],
  orange: [0.95, 0.5, 0.1],
} as const satisfies Record<string, Rgb>;
export type Color = keyof typeof colors;
export const colorNames = Object.keys(colors) as Color[];

export const shapes = ['ball', 'square', 'triangle', 'ring'] as const;
export type Shape = (typeof shapes)[number];

export const backgrounds = {
  white: [0.95, 0.95, 0.95],
  black: [0.06, 0.06, 0.08],
  grey: [0.5, 0.5, 0.52],
  sky: [0.6, 0.8, 0.95],
  sand: [0.85, 0.75, 0.58],
} as const satisfies Record<string, Rgb>;
export type Background = keyof typeof backgrounds;
export const backgroundNames = Object.keys(backgrounds) as Background[];

export const directions = ['right', 'left', 'up', 'down'] as const;
export type Direction = (typeof directions)[number];
export type Speed = 'slowly' | 'quickly';

export const framesPerSecond = 24;

/** Hertz of a tick, in the order of the colours. */
export const tickPitch: Readonly<Record<Color, number>> = {
  red: 250,
  green: 300,
  blue: 350,
  yellow: 450,
  purple: 500,
  orange: 550,
};

/** Whether the combination was kept from training; indices into the tables above. */
export function isHeldOut(color: Color, shape: Shape, direction: Direction): boolean {
  const sum = colorNames.indexOf(color) + 2 * shapes.indexOf(shape) + directions.indexOf(direction);
  return sum % 12 === 6;
}

/** Numbers by frame. */
export type Track = Float64Array;

export interface Primitive {
  readonly kind: Shape | 'box';
  readonly color: Rgb;
  readonly x: Track;
  readonly y: Track;
  readonly halfWidth: Track;
  readonly halfHeight: Track;
  readonly angle: Track;
  /** 0 far … 1 near. */
  readonly depth: number;
  /** Index of its colour in a segmentation. */
  readonly marker: number;
  readonly shaded: boolean;
}

/** Where the driver is: metres across and along the road, heading in radians. */
export interface Camera {
  readonly x: Track;
  readonly z: Track;
  readonly heading: Track;
}

export interface Tick {
  readonly second: number;
  readonly hertz: number;
  /** 0 left … 1 right. */
  readonly pan: number;
}

export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly ground: Background | 'road';
  readonly primitives: readonly Primitive[];
  readonly camera: Camera | null;
  readonly ticks: readonly Tick[];
}

/** A track that is one number, or one computed by frame. */
export function track(frames: number, value: number | ((frame: number) => number)): Track {
  return Float64Array.from({ length: frames }, (_, frame) => (typeof value === 'number' ? value : value(frame)));
}

type Given = Partial<Pick<Primitive, 'depth' | 'marker' | 'shaded'>> & {
  readonly kind: Primitive['kind'];
  readonly color: Rgb;
  readonly x: Track | number;
  readonly y: Track | number;
  readonly halfWidth: Track | number;
  readonly halfHeight?: Track | number;
  readonly angle?: Track | number;
};

/** A primitive of `frames` frames; numbers stand for every frame. */
export function primitive(frames: number, given: Given): Primitive {
  const all = (value: Track | number) => (typeof value === 'number' ? track(frames, value) : value);
  const { kind, color, depth = 0.7, marker = 0, shaded = true, angle = 0 } = given;
  const halfWidth = all(given.halfWidth);
  const halfHeight = given.halfHeight === undefined ? halfWidth : all(given.halfHeight);
  return {
    kind,
    color,
    x: all(given.x),
    y: all(given.y),
    halfWidth,
    halfHeight,
    angle: all(angle),
    depth,
    marker,
    shaded,
  };
}
