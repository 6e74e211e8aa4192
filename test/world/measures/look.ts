// Colour and shape of one object.
import type { RgbClip } from '../../../src/media/index.js';
import { outlineDistance } from '../scenes/draw.js';
import { type Color, colorNames, colors, type Rgb, type Shape, shapes } from '../scenes/scene.js';
import { type Mask, measureMask } from './objects.js';

/** Share of a colour's channels in their sum. */
function chroma(color: Rgb): Rgb {
  const sum = Math.max(color[0] + color[1] + color[2], 0.05);
  return [color[0] / sum, color[1] / sum, color[2] / sum];
}

/** Mean colour of the pixels under a mask, 0 … 1. */
export function meanColor({ data }: RgbClip, frame: number, { width, height, on }: Mask): Rgb {
  const sums = [0, 0, 0] as [number, number, number];
  let count = 0;
  for (let i = 0; i < on.length; i++) {
    if (on[i] === 0) continue;
    count++;
    const at = (frame * width * height + i) * 3;
    for (const c of [0, 1, 2] as const) sums[c] += (data[at + c] as number) / 255;
  }
  return [sums[0] / count, sums[1] / count, sums[2] / count];
}

/** The palette's colour whose chroma is nearest. */
export function nearestColor(color: Rgb): Color {
  const mine = chroma(color);
  const gap = (name: Color) => chroma(colors[name]).reduce((sum, v, c) => sum + (v - (mine[c] as number)) ** 2, 0);
  return [...colorNames].sort((a, b) => gap(a) - gap(b))[0] as Color;
}

/** Area of each shape of radius 1. */
const unitArea: Readonly<Record<Shape, number>> = {
  ball: Math.PI,
  square: 1.76 ** 2,
  triangle: 1.87,
  ring: Math.PI * 0.75,
};

/** Overlap (intersection over union) of a mask with a shape of its area at its centre. */
export function overlapWith(shape: Shape, mask: Mask): number {
  const { x, y, area } = measureMask(mask);
  const radius = Math.sqrt(area / unitArea[shape]);
  const { width, height, on } = mask;
  // No shape reaches farther than 1.2 radii.
  const reach = 1.2 * radius + 1;
  const [left, right] = [Math.max(0, Math.floor(x - reach)), Math.min(width - 1, Math.ceil(x + reach))];
  const [top, bottom] = [Math.max(0, Math.floor(y - reach)), Math.min(height - 1, Math.ceil(y + reach))];
  let [both, inside] = [0, 0];
  for (let row = top; row <= bottom; row++) {
    for (let column = left; column <= right; column++) {
      if (outlineDistance(shape, column - x, row - y, radius, radius) >= 0) continue;
      inside++;
      both += on[row * width + column] as number;
    }
  }
  const any = inside + area - both;
  return any === 0 ? 0 : both / any;
}

/** The shape that a mask resembles most. */
export function nearestShape(mask: Mask): Shape {
  const overlaps = shapes.map((shape) => overlapWith(shape, mask));
  return shapes[overlaps.indexOf(Math.max(...overlaps))] as Shape;
}
