// Where objects are in a clip on a plain ground: masks, centres, areas.
import type { RgbClip } from '../../../src/media/index.js';
import { colors, type Rgb } from '../scenes/scene.js';

/** Pixels of one frame that belong to something: 1 or 0, row by row. */
export interface Mask {
  readonly width: number;
  readonly height: number;
  readonly on: Uint8Array;
}

export interface Blob {
  /** Centre in pixels; NaN where the area is 0. */
  readonly x: number;
  readonly y: number;
  /** Pixels. */
  readonly area: number;
}

/** The most usual value of numbers 0 … 255 (of their median, for few). */
function median(values: Uint8Array, counts: Uint32Array): number {
  counts.fill(0);
  for (const value of values) counts[value] = (counts[value] as number) + 1;
  let seen = 0;
  for (let value = 0; value < 256; value++) {
    seen += counts[value] as number;
    if (seen * 2 > values.length) return value;
  }
  return 255;
}

/** How far each pixel of a frame is from the median colour of its row, which is the ground's: sum of channels, 0 … 3. */
function gapsToGround({ width, height, data }: RgbClip, frame: number): Float32Array {
  const row = new Uint8Array(width);
  const counts = new Uint32Array(256);
  const gaps = new Float32Array(width * height);
  for (let y = 0; y < height; y++) {
    const begin = (frame * height + y) * width * 3;
    for (let c = 0; c < 3; c++) {
      for (let x = 0; x < width; x++) row[x] = data[begin + x * 3 + c] as number;
      const usual = median(row, counts);
      for (let x = 0; x < width; x++) {
        const at = y * width + x;
        gaps[at] = (gaps[at] as number) + Math.abs((row[x] as number) - usual) / 255;
      }
    }
  }
  return gaps;
}

/** Gap up to which a pixel is the ground's. */
const isGround = 0.05;

/** Pixels of the smallest part that is something. */
const leastArea = 30;

/** Gap from the ground that is something, and the highest at which an outline is drawn. */
const [leastGap, outlineGap] = [0.25, 0.5];

/**
 * Pixels of a frame that stand out of the ground. The outline of a thing lies where half of its own gap to the ground is left, so
 * that softening neither widens it nor fills a ring's hole.
 */
export function maskObjects(clip: RgbClip, frame: number): Mask {
  const { width, height } = clip;
  const gaps = gapsToGround(clip, frame);
  const on = new Uint8Array(gaps.length);
  for (let i = 0; i < on.length; i++) on[i] = (gaps[i] as number) > leastGap ? 1 : 0;
  for (const places of partsOf({ width, height, on })) {
    const inside = new Float32Array(places.length);
    for (let i = 0; i < places.length; i++) inside[i] = gaps[places[i] as number] as number;
    inside.sort();
    const half = Math.min((inside[inside.length >> 1] as number) / 2, outlineGap);
    for (const at of places) if ((gaps[at] as number) <= half) on[at] = 0;
  }
  return { width, height, on };
}

const shades = [1.05, 0.93, 0.8] as const;

/** How far a pixel is from a colour (sum of channels, 0 … 3), its shading up to a quarter allowed for. */
function gapTo(color: Rgb, r: number, g: number, b: number): number {
  let least = 3;
  for (const shade of shades) {
    const gap = Math.abs(r - color[0] * shade) + Math.abs(g - color[1] * shade) + Math.abs(b - color[2] * shade);
    if (gap < least) least = gap;
  }
  return least;
}

/** Pixels of a frame nearer than `reach` to a colour of the palette and not nearer to another one, nor to the ground. */
export function maskColor(clip: RgbClip, frame: number, color: Rgb, reach = 0.42): Mask {
  const { width, height, data } = clip;
  const begin = frame * width * height * 3;
  const on = new Uint8Array(width * height);
  const others = Object.values(colors).filter((other) => other !== color);
  const ground = gapsToGround(clip, frame);
  for (let i = 0; i < on.length; i++) {
    if ((ground[i] as number) < isGround) continue;
    const at = begin + i * 3;
    const r = (data[at] as number) / 255;
    const g = (data[at + 1] as number) / 255;
    const b = (data[at + 2] as number) / 255;
    const gap = gapTo(color, r, g, b);
    const isThere = gap < reach && gap < (ground[i] as number);
    on[i] = isThere && others.every((other) => gapTo(other, r, g, b) >= gap) ? 1 : 0;
  }
  return { width, height, on };
}

/** Centre and area of a whole mask. */
export function measureMask({ width, on }: Mask): Blob {
  let [sumX, sumY, area] = [0, 0, 0];
  for (let i = 0; i < on.length; i++) {
    if (on[i] === 0) continue;
    sumX += i % width;
    sumY += Math.floor(i / width);
    area++;
  }
  return { x: sumX / area, y: sumY / area, area };
}

/** Places of the pixels of each connected part of a mask of at least `least` pixels, the largest part first. */
function partsOf({ width, on }: Mask, least = leastArea): readonly Int32Array[] {
  const open = Uint8Array.from(on);
  const places = new Int32Array(on.length);
  const found: Int32Array[] = [];
  let area = 0;
  const visit = (at: number) => {
    if (open[at] !== 1) return;
    open[at] = 0;
    places[area++] = at;
  };
  for (let start = 0; start < on.length; start++) {
    if (open[start] === 0) continue;
    area = 0;
    visit(start);
    for (let next = 0; next < area; next++) {
      const at = places[next] as number;
      const x = at % width;
      if (x > 0) visit(at - 1);
      if (x < width - 1) visit(at + 1);
      if (at >= width) visit(at - width);
      if (at + width < on.length) visit(at + width);
    }
    if (area >= least) found.push(places.slice(0, area));
  }
  return found.sort((a, b) => b.length - a.length);
}

function maskOf({ width, height, on }: Mask, places: Int32Array): Mask {
  const part = new Uint8Array(on.length);
  for (const at of places) part[at] = 1;
  return { width, height, on: part };
}

/** Connected parts of a mask of at least `least` pixels, the largest first, each as a mask of its own. */
export function splitMask(mask: Mask, least = leastArea): readonly Mask[] {
  return partsOf(mask, least).map((places) => maskOf(mask, places));
}

/** The largest connected part of what stands out of the ground. */
export function findObject(clip: RgbClip, frame: number): { readonly mask: Mask; readonly blob: Blob } | null {
  const all = maskObjects(clip, frame);
  const [places] = partsOf(all);
  if (places === undefined) return null;
  const mask = maskOf(all, places);
  return { mask, blob: measureMask(mask) };
}
