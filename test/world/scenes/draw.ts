// Pictures of scenes: colour frames and the five control maps, as the training program draws them.
import type { RgbClip } from '../../../src/media/index.js';
import type { HintKind } from '../../../src/pipeline/request.js';
import { blurred } from './blur.js';
import { drawRoad, isMark } from './road.js';
import { backgrounds, type Primitive, type Rgb, type Scene } from './scene.js';

export type View = 'rgb' | HintKind;

const markers: readonly Rgb[] = [
  [0.9, 0.1, 0.3],
  [0.1, 0.7, 0.9],
  [0.9, 0.8, 0.2],
  [0.3, 0.9, 0.3],
  [0.6, 0.3, 0.9],
  [0.9, 0.5, 0.1],
  [0.2, 0.3, 0.9],
  [0.9, 0.4, 0.8],
];

/** Signed distance in pixels to the outline of a primitive, negative inside; x and y from its centre. */
export function outlineDistance(
  kind: Primitive['kind'],
  x: number,
  y: number,
  halfWidth: number,
  halfHeight: number,
): number {
  switch (kind) {
    case 'ball':
      return Math.hypot(x, y) - halfWidth;
    case 'square':
      return Math.max(Math.abs(x), Math.abs(y)) - halfWidth * 0.88;
    case 'triangle':
      return Math.max(Math.abs(x) * 0.866 + y * 0.5, -y) - halfWidth * 0.6;
    case 'ring':
      return Math.abs(Math.hypot(x, y) - halfWidth * 0.75) - halfWidth * 0.25;
    case 'box':
      return Math.max(Math.abs(x) - halfWidth, Math.abs(y) - halfHeight);
    default:
      return kind satisfies never;
  }
}

const clamp = (v: number) => Math.min(Math.max(v, 0), 1);

interface Paint {
  readonly color: Rgb;
  readonly share: number;
}

/** What a primitive paints on a pixel at signed distance `sd`, `dy` below its centre. */
function paintOf(view: View, item: Primitive, sd: number, dy: number, halfWidth: number): Paint {
  const solid = sd < 0 ? 1 : 0;
  const marker = markers[item.marker] as Rgb;
  switch (view) {
    case 'rgb':
    case 'blur': {
      const shade = item.shaded ? 1.05 - 0.25 * (Math.min(Math.max(dy / halfWidth, -1), 1) * 0.5 + 0.5) : 1;
      const [r, g, b] = item.color;
      return { color: [r * shade, g * shade, b * shade], share: clamp(0.5 - sd) };
    }
    case 'edge':
      return { color: sd > -1 ? [1, 1, 1] : [0, 0, 0], share: sd < 0.5 ? 1 : 0 };
    case 'depth':
      return { color: [item.depth, item.depth, item.depth], share: solid };
    case 'seg':
      return { color: marker, share: solid };
    case 'wsm':
      return { color: sd > -2 ? [1, 1, 1] : [marker[0] * 0.6, marker[1] * 0.6, marker[2] * 0.6], share: solid };
    default:
      return view satisfies never;
  }
}

const flatGrounds: Readonly<Record<Exclude<View, 'rgb' | 'blur'>, Rgb>> = {
  edge: [0, 0, 0],
  depth: [0.12, 0.12, 0.12],
  seg: [0.12, 0.12, 0.16],
  wsm: [0, 0, 0],
};

function drawGround(scene: Scene, view: View, frame: number, into: Float64Array): void {
  const { width, height, ground } = scene;
  const isColoured = view === 'rgb' || view === 'blur';
  if (ground === 'road' && (isColoured || view === 'wsm')) drawRoad(scene, frame, into);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 3;
      if (isColoured && ground === 'road') continue;
      const flat = isColoured ? backgrounds[ground === 'road' ? 'grey' : ground] : flatGrounds[view];
      const fall = isColoured ? 1 - (0.25 * y) / height : 1;
      const lane = view === 'wsm' && ground === 'road' ? isMark(into, at, y, height) : 0;
      for (let c = 0; c < 3; c++) into[at + c] = (flat[c] as number) * fall + lane * ([0.2, 0.9, 0.9][c] as number);
    }
  }
}

function drawPrimitive(scene: Scene, view: View, item: Primitive, frame: number, into: Float64Array): void {
  const { width, height } = scene;
  const [px, py] = [item.x[frame] as number, item.y[frame] as number];
  const halfWidth = item.halfWidth[frame] as number;
  const halfHeight = item.kind === 'box' ? (item.halfHeight[frame] as number) : halfWidth;
  const angle = view === 'wsm' ? 0 : (item.angle[frame] as number);
  const kind = view === 'wsm' ? 'box' : item.kind;
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  const reach = 1.3 * Math.hypot(halfWidth, halfHeight) + 2;
  const [x0, x1] = [Math.max(0, Math.floor(px - reach)), Math.min(width - 1, Math.ceil(px + reach))];
  const [y0, y1] = [Math.max(0, Math.floor(py - reach)), Math.min(height - 1, Math.ceil(py + reach))];
  for (let y = y0; y <= y1; y++) {
    for (let x = x0; x <= x1; x++) {
      const [dx, dy] = [x - px, y - py];
      const sd = outlineDistance(kind, dx * cos + dy * sin, dy * cos - dx * sin, halfWidth, halfHeight);
      if (sd >= 0.5) continue;
      const { color, share } = paintOf(view, item, sd, dy, halfWidth);
      const at = (y * width + x) * 3;
      for (let c = 0; c < 3; c++) into[at + c] = (into[at + c] as number) * (1 - share) + (color[c] as number) * share;
    }
  }
}

/** Draws a scene. `frames` limits the clip to its first ones. */
export function drawScene(scene: Scene, view: View = 'rgb', frames = scene.frames): RgbClip {
  const { width, height } = scene;
  const data = new Uint8Array(frames * width * height * 3);
  const picture = new Float64Array(width * height * 3);
  const ground = new Float64Array(picture.length);
  for (let frame = 0; frame < frames; frame++) {
    if (frame === 0 || scene.ground === 'road') drawGround(scene, view, frame, ground);
    picture.set(ground);
    for (const item of scene.primitives) drawPrimitive(scene, view, item, frame, picture);
    const final = view === 'blur' ? blurred(picture, width, height) : picture;
    for (let i = 0; i < final.length; i++)
      data[frame * picture.length + i] = Math.round(clamp(final[i] as number) * 255);
  }
  return { width, height, frames, fps: 24, data };
}
