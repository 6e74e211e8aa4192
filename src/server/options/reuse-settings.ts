// What the flags of reuse mean: a default of requests, and options of the device process.
import { readStepCache } from '../../engine/door/read-step-cache.js';
import type { JsonObject } from '../../engine/jobs/types.js';
import { readWarmUpShape } from '../../engine/run/warm-up.js';
import { RequestError } from '../../protocol/index.js';
import { isRecord } from '../bodies/json-text.js';
import { type FlagInput, textsOf } from './flags.js';

export interface ReuseSettings {
  /** `step_cache` of requests that state none; null for none. */
  readonly stepCache: Readonly<Record<string, unknown>> | null;
  /** Shapes, as `832x480x49`. */
  readonly warmUp: readonly string[];
  readonly textCacheBytes: number | null;
  readonly graphShapes: number | null;
}

/**
 * Reads the settings.
 * @param values by the names of flags, each of its flag's type
 * @throws RequestError for settings that no step cache has, and for shapes that are none
 */
export function readReuseSettings(values: FlagInput): ReuseSettings {
  const warmUp = textsOf(values.warmup)
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter(Boolean);
  for (const shape of warmUp) readWarmUpShape(shape);
  return {
    stepCache: readCacheFlags(values),
    warmUp,
    textCacheBytes: numberOrNull(values['text-cache-size']),
    graphShapes: numberOrNull(values['graph-cache-size']),
  };
}

/** What the device process is told; of what is as it is by default nothing. */
export function reuseOptions({ warmUp, textCacheBytes, graphShapes }: ReuseSettings): JsonObject {
  const keep = {
    ...(textCacheBytes === null ? {} : { textBytes: textCacheBytes }),
    ...(graphShapes === null ? {} : { shapes: graphShapes }),
  };
  return {
    ...(warmUp.length === 0 ? {} : { warmUp: [...warmUp] }),
    ...(Object.keys(keep).length === 0 ? {} : { keep }),
  };
}

function readCacheFlags(values: FlagInput): ReuseSettings['stepCache'] {
  const { 'cache-backend': backend, 'cache-config': config } = values;
  if (backend === undefined || backend === 'none') {
    if (config === undefined) return null;
    throw new RequestError(
      'missing_parameter',
      'cache-backend',
      '--cache-config is given, but no step cache: add --cache-backend tea_cache or sea_cache',
    );
  }
  const stepCache = { ...(isRecord(config) ? config : {}), kind: backend };
  readStepCache(stepCache, {});
  return stepCache;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
