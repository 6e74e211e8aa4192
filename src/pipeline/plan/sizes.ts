// Which canvas a request gets: what it states, a trained bucket, or the shape of its source. Source: api spec, 2.5.

import { type Bucket, buckets } from '../defaults.js';
import type { CheckpointFacts, TaskDefaults } from '../facts.js';
import type { Size } from '../plan-types.js';
import { parseAspect } from '../prompts/aspect-labels.js';
import { roundHalfEven } from '../prompts/python-text.js';
import type { GenerationRequest } from '../request.js';
import { refuse } from './ranges.js';

/** Most pixels of a canvas: 7680 x 4320. */
export const pixelLimit = 33_177_600;

/** The bucket of a tier whose shape is nearest to a source: least |h/w - H/W|. */
export function nearestBucket(tier: readonly Bucket[], source: Size): Bucket {
  const shape = source.height / source.width;
  const distance = ({ width, height }: Bucket) => Math.abs(shape - height / width);
  return tier.reduce((best, next) => (distance(next) < distance(best) ? next : best));
}

/**
 * Buckets of a named tier.
 * @throws RequestError for a name that is none; `mode` says in whose words: transfer, action or video.
 */
export function bucketTier(resolution: string, mode: string): readonly Bucket[] {
  const tier = Object.hasOwn(buckets, resolution) ? buckets[resolution] : undefined;
  const known = Object.keys(buckets).join(', ');
  const message = `Unsupported Cosmos3 ${mode} resolution='${resolution}'; expected one of [${known}].`;
  return tier ?? refuse('invalid_value', 'resolution', `${message} Give one of these, or leave it out`);
}

/**
 * A canvas of about the area of `defaults`, shaped like the source: sides floored to multiples of `unit`, at least one.
 * For the default 1280x720 a source of 320x160 gets 1344x672.
 */
export function sizeByArea({ width, height }: Size, source: Size, unit: number): Size {
  const shape = source.height / source.width;
  const side = (length: number) => Math.max(unit, Math.floor(roundHalfEven(length) / unit) * unit);
  return { width: side(Math.sqrt((width * height) / shape)), height: side(Math.sqrt(width * height * shape)) };
}

/**
 * The canvas of a task that works in buckets (transfer, actions): of the tier that the request names, else of the one that
 * the default size belongs to, else, where a checkpoint has a size of its own, of that area.
 */
export function bucketedSize(
  request: GenerationRequest,
  defaults: TaskDefaults,
  { source, unit, mode }: { readonly source: Size; readonly unit: number; readonly mode: string },
): Size {
  const { resolution } = request;
  const tier = resolution === undefined ? tierOf(defaults) : bucketTier(resolution, mode);
  if (!tier) return sizeByArea(defaults, source, unit);
  const { width, height } = nearestBucket(tier, source);
  return { width, height };
}

function tierOf({ width, height }: Size): readonly Bucket[] | undefined {
  return ['720', '704', '480', '256']
    .map((name) => buckets[name])
    .find((tier) => tier?.some((bucket) => bucket.width === width && bucket.height === height));
}

/**
 * The canvas of a task that takes any size: what the request states, else the bucket of a named tier, else by the source
 * (where there is one and the family follows it), else the default.
 */
export function freeSize(
  request: GenerationRequest,
  defaults: TaskDefaults,
  { family, spatialCompression }: CheckpointFacts,
  source: Size | null,
): Size {
  const unit = spatialCompression;
  const { resolution, aspectRatio } = request;
  const asked = aspectRatio === undefined ? null : parseAspect(aspectRatio);
  let fallback: Size = defaults;
  if (resolution !== undefined) fallback = nearestBucket(bucketTier(resolution, 'video'), asked ?? source ?? defaults);
  else if (source && family !== 'edge') fallback = sizeByArea(defaults, source, unit);
  return { width: request.width ?? fallback.width, height: request.height ?? fallback.height };
}

/**
 * Returns a size that the networks can make: whole numbers, multiples of `unit`, at most `pixelLimit` pixels.
 * @throws RequestError naming the nearest sides otherwise.
 */
export function checkSize({ width, height }: Size, unit: number): Size {
  for (const [param, side] of [
    ['width', width],
    ['height', height],
  ] as const)
    if (!Number.isSafeInteger(side) || side < 1)
      refuse(
        'invalid_value',
        param,
        `${param} is ${side} in ${width}x${height}; give a multiple of ${unit}, e.g. ${40 * unit}`,
      );
  if (width * height > pixelLimit)
    refuse(
      'invalid_value',
      'size',
      `size ${width}x${height} has ${width * height} pixels; at most ${pixelLimit} (7680x4320) can be made: give a smaller one`,
    );
  for (const [param, side] of [
    ['width', width],
    ['height', height],
  ] as const)
    if (side % unit !== 0) {
      const above = Math.ceil(side / unit) * unit;
      const near = side < unit ? `${above}` : `${above - unit} or ${above}`;
      refuse(
        'invalid_value',
        param,
        `${param} is ${side} in ${width}x${height}; it must be a multiple of ${unit}: give ${near}`,
      );
    }
  return { width, height };
}
