// Aspect ratios as the structured prompts name them: "16,9". Source: api spec, 2.6.
import { type AspectLabel, buckets } from '../defaults.js';
import { refuse } from '../plan/ranges.js';
import type { Size } from '../plan-types.js';

/**
 * Reads "16,9" or "16:9" as a shape.
 * @throws RequestError for anything but two positive numbers.
 */
export function parseAspect(text: string): Size {
  const [width = 0, height = 0, ...rest] = text.split(/[,:]/).map(Number);
  if (width > 0 && height > 0 && Number.isFinite(width / height) && rest.length === 0) return { width, height };
  return refuse('invalid_value', 'aspect_ratio', `aspect_ratio is "${text}"; give two positive numbers, as 16,9`);
}

const canonicalLabels: readonly AspectLabel[] = ['1,1', '4,3', '3,4', '16,9', '9,16'];

/** The trained label nearest to a canvas: 1104x816 is "4,3". */
export function nearestLabel(canvas: Size): AspectLabel {
  const shape = canvas.height / canvas.width;
  const distance = (label: AspectLabel) => {
    const { width, height } = parseAspect(label);
    return Math.abs(shape - height / width);
  };
  return canonicalLabels.reduce((best, next) => (distance(next) < distance(best) ? next : best));
}

/** The label an action caption states: that of the bucket of exactly this size, else the reduced fraction. */
export function exactLabel({ width, height }: Size): string {
  const found = Object.values(buckets)
    .flat()
    .find((bucket) => bucket.width === width && bucket.height === height);
  if (found) return found.label;
  const divisor = greatestCommonDivisor(width, height);
  return `${width / divisor},${height / divisor}`;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
