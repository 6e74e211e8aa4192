// A step cache as callers spell it: a word, or an object with the names of the tools that know it.
import type { SkipMode, StepCacheRequest } from '../../pipeline/request.js';
import { nearestName, RequestError, showValue } from '../../protocol/index.js';
import { omitUndefined } from './omit-undefined.js';
import { isRecord } from './read-values.js';

/** What is read: nothing where no step cache is asked for. */
export interface ReadStepCache {
  readonly stepCache?: StepCacheRequest;
  /** How skipped steps get their velocity, where that is stated here. */
  readonly skipMode?: SkipMode;
}

const kinds: Readonly<Record<string, StepCacheRequest['kind']>> = {
  teacache: 'teacache',
  tea_cache: 'teacache',
  seacache: 'seacache',
  sea_cache: 'seacache',
};

/** Members of the object by the spellings they have. */
const members: Readonly<Record<string, 'threshold' | 'warmupSteps' | 'maxConsecutive' | 'power' | 'order'>> = {
  threshold: 'threshold',
  rel_l1_thresh: 'threshold',
  sea_thresh: 'threshold',
  warmup_steps: 'warmupSteps',
  num_warmup_steps: 'warmupSteps',
  max_consecutive: 'maxConsecutive',
  max_consecutive_cached: 'maxConsecutive',
  power_exp: 'power',
  residual_order: 'order',
};

const memberNames = ['kind', ...Object.keys(members), 'coefficients'];

/** Members that have a field of their own; the object's win. */
export type StepCacheFields = Pick<StepCacheRequest, 'threshold' | 'warmupSteps'>;

/**
 * Reads `step_cache`: `teacache`, `seacache`, `none`, or an object of `kind` and settings.
 * @param fields what was given beside it
 * @throws RequestError naming what does not fit
 */
export function readStepCache(
  value: unknown,
  fields: { readonly [key in keyof StepCacheFields]?: number | undefined },
): ReadStepCache {
  const given = typeof value === 'string' && value.trim().startsWith('{') ? parseJson(value) : value;
  if (given === undefined || given === 'none' || given === '') {
    const [name] = Object.entries(fields).find(([, field]) => field !== undefined) ?? [];
    if (name === undefined) return {};
    const param = name === 'threshold' ? 'step_cache_threshold' : 'step_cache_warmup';
    throw new RequestError(
      'missing_parameter',
      'step_cache',
      `${param} is given, but no step cache: add step_cache, teacache or seacache`,
    );
  }
  const { kind, coefficients, ...settings } = isRecord(given) ? given : { kind: given };
  const word = typeof kind === 'string' ? kind.toLowerCase() : '';
  const known = Object.hasOwn(kinds, word) ? kinds[word] : undefined;
  if (kind === 'none') return {};
  if (known === undefined)
    throw new RequestError(
      'invalid_value',
      'step_cache',
      `step_cache must be teacache, seacache or none, or an object with such a kind, got ${showValue(given)}`,
    );
  const { order, ...numbers } = readSettings(settings);
  if (order !== undefined && order !== 0 && order !== 1)
    throw new RequestError(
      'invalid_value',
      'step_cache.residual_order',
      `step_cache.residual_order is ${order}; 0 holds the last velocity, 1 extrapolates the last two`,
    );
  const stepCache: StepCacheRequest = {
    kind: known,
    ...omitUndefined({ ...fields, coefficients: readCoefficients(coefficients) }),
    ...numbers,
  };
  return order === undefined ? { stepCache } : { stepCache, skipMode: order === 0 ? 'hold' : 'extrapolate' };
}

type Settings = { -readonly [key in (typeof members)[string]]?: number };

function readSettings(settings: Readonly<Record<string, unknown>>): Settings {
  const read: Settings = {};
  for (const [name, value] of Object.entries(settings)) {
    if (value === null || value === undefined) continue;
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (member === undefined) {
      const nearest = nearestName(name, memberNames);
      const hint = nearest === undefined ? `; there are ${memberNames.join(', ')}` : `; did you mean ${nearest}?`;
      throw new RequestError('invalid_value', 'step_cache', `step_cache.${name} is unknown${hint}`);
    }
    const number = typeof value === 'string' ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isFinite(number))
      throw new RequestError(
        'invalid_value',
        `step_cache.${name}`,
        `step_cache.${name} must be a number, got ${showValue(value)}`,
      );
    read[member] = number;
  }
  return read;
}

function readCoefficients(value: unknown): readonly number[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value) && value.every((item): item is number => typeof item === 'number' && Number.isFinite(item)))
    return value;
  throw new RequestError(
    'invalid_value',
    'step_cache.coefficients',
    `step_cache.coefficients must be a list of numbers, highest power first, got ${showValue(value)}`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestError('invalid_value', 'step_cache', `step_cache is not valid JSON: ${showValue(text)}`);
  }
}
