// All flags of `orrery serve`, and how a value of one is read.
import { nearestName, RequestError, showValue } from '../../protocol/index.js';
import { parseJson } from '../bodies/json-text.js';
import { compatibleFlags } from './compatible-flags.js';
import { deviceFlags } from './device-flags.js';
import { reuseFlags } from './reuse-flags.js';
import type { ServeFlag } from './serve-flag.js';
import { workingFlags } from './working-flags.js';

export const serveFlags: readonly ServeFlag[] = [...workingFlags, ...reuseFlags, ...deviceFlags, ...compatibleFlags];

/** Values by the names of flags, as flags, environment and config file give them. */
export type FlagInput = Readonly<Record<string, unknown>>;

/** The texts of a flag that may be given several times. */
export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** A flag by its name or one of its other names, dashes and underscores the same. */
export function findFlag(name: string): ServeFlag | undefined {
  const wanted = name.replaceAll('_', '-').replace(/^-+/, '');
  return serveFlags.find((flag) => flag.name === wanted || flag.aliases?.includes(wanted));
}

/**
 * Values by their flags' own names, each of its flag's type; flags that change nothing give a note instead.
 * @throws RequestError for an unknown name (with the nearest known), a value of the wrong form, or a flag that is refused
 */
export function readFlags(input: FlagInput): { readonly values: FlagInput; readonly notes: readonly string[] } {
  const values: Record<string, unknown> = {};
  const notes: string[] = [];
  for (const [name, given] of Object.entries(input)) {
    if (given === undefined || given === null) continue;
    const flag = findFlag(name);
    if (flag === undefined) throw unknownFlag(name);
    const value = flag.several ? readList(flag, given) : readValue(flag, given);
    if (value === false && flag.kind === 'switch') continue;
    const note = checkEffect(flag, value);
    if (note !== null) notes.push(note);
    else values[flag.name] = value;
  }
  return { values, notes };
}

function unknownFlag(name: string): RequestError {
  const names = serveFlags.flatMap((flag) => [flag.name, ...(flag.aliases ?? [])]);
  const nearest = nearestName(name.replaceAll('_', '-'), names);
  const hint = nearest === undefined ? '' : `; did you mean --${nearest}?`;
  return new RequestError('unknown_parameter', name, `--${name} is no flag of the server${hint}`);
}

function checkEffect(flag: ServeFlag, value: unknown): string | null {
  const { does } = flag;
  switch (does.effect) {
    case 'works':
    case 'gpu':
      return null;
    case 'noted':
      return `--${flag.name} changes nothing: ${does.why}`;
    case 'only':
      if (does.values.includes(String(value))) return `--${flag.name} ${value} changes nothing: ${does.why}`;
      throw refusal(flag, value, does);
    case 'refused':
      throw refusal(flag, value, does);
    default:
      return does satisfies never;
  }
}

/** Why the CPU device cannot obey flags that a GPU would, the first given one first; null where nothing was asked that it cannot. */
export function refusalOnCpu(values: FlagInput): RequestError | null {
  for (const [name, value] of Object.entries(values)) {
    const flag = findFlag(name);
    if (flag?.does.effect !== 'gpu' || flag.does.values.includes(String(value))) continue;
    return refusal(flag, value, flag.does);
  }
  return null;
}

function refusal({ name }: ServeFlag, value: unknown, does: Refusal): RequestError {
  const values = does.values ?? [];
  const what = values.length > 0 ? `takes ${values.join(' or ')} only, got ${showValue(value)}` : 'is not available';
  return new RequestError('unsupported', name, `--${name} ${what}: ${does.why}`);
}

interface Refusal {
  readonly why: string;
  /** Taken all the same. */
  readonly values?: readonly string[];
}

function readList(flag: ServeFlag, given: unknown): readonly unknown[] {
  return [given].flat().map((value) => readValue(flag, value));
}

function readValue(flag: ServeFlag, given: unknown): unknown {
  const { name, kind } = flag;
  const fail = (what: string): never => {
    throw new RequestError('invalid_value', name, `--${name} must be ${what}, got ${showValue(given)}`);
  };
  switch (kind) {
    case 'switch':
      if (typeof given === 'boolean') return given;
      return fail('true or false');
    case 'text':
      if (flag.choices !== undefined && !flag.choices.includes(String(given))) return fail(flag.choices.join(' or '));
      if (typeof given === 'string' && given !== '') return given;
      return typeof given === 'number' ? String(given) : fail('text');
    case 'json': {
      const value = typeof given === 'string' ? parseJson(given, `--${name}`) : given;
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : fail('a JSON object');
    }
    case 'integer':
    case 'number': {
      const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = flag;
      const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
      const fits =
        typeof value === 'number' &&
        Number.isFinite(value) &&
        value >= minimum &&
        value <= maximum &&
        (kind === 'number' || Number.isInteger(value));
      return fits ? value : fail(describeRange(flag));
    }
    default:
      return kind satisfies never;
  }
}

function describeRange({ kind, minimum, maximum }: ServeFlag): string {
  const what = kind === 'integer' ? 'a whole number' : 'a number';
  if (minimum !== undefined && maximum !== undefined) return `${what} from ${minimum} to ${maximum}`;
  return minimum === undefined ? what : `${what} of at least ${minimum}`;
}
