// A generation request as a route has read it: wire words for the door, inputs to gather, and what concerns the reply alone.
import { aliases, knownNames, RequestError, showValue, unavailableNames, unusedNames } from '../../protocol/index.js';
import type { WantedInput } from '../inputs/wanted-input.js';

export type Named = Readonly<Record<string, unknown>>;

export interface GenerationForm {
  /** Fields by their wire names, without those of the route alone. */
  readonly fields: Named;
  readonly extra: Named;
  readonly wanted: readonly WantedInput[];
  /** Names that were given and mean nothing here. */
  readonly ignored: readonly string[];
}

const known = new Set([...knownNames, ...Object.keys(aliases)]);

/** Names of `given` that change nothing: unknown ones, and those of other models. */
export function findIgnored(given: Named, routeNames: readonly string[]): readonly string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined || value === null || value === '') return [];
    if (unusedNames.has(name)) return routeNames.includes(name) ? [] : [name];
    return known.has(name) || routeNames.includes(name) || Object.hasOwn(unavailableNames, name) ? [] : [name];
  });
}

/** A header's value: names as they can stand in one. */
export function ignoredHeader(names: readonly string[]): string | null {
  const plain = [...new Set(names)].map((name) => name.replace(/[^\w.[\]-]/g, '?').slice(0, 60));
  return plain.length === 0 ? null : plain.slice(0, 40).join(', ');
}

/** A copy without the members that are named, and without empty ones of a form. */
export function omit(values: Named, names: readonly string[], dropsEmpty: boolean): Named {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => !names.includes(name) && value !== null && !(dropsEmpty && value === ''),
    ),
  );
}

/**
 * Parameters that the server starts requests from, where a request does not say otherwise.
 * What the request states in another form (a size instead of a width) displaces them too.
 */
export function withDefaults({ fields, extra, ...rest }: GenerationForm, defaults: Named): GenerationForm {
  const canonical = (name: string) => aliases[name] ?? name;
  const given = new Set([...Object.keys(fields), ...Object.keys(extra)].map(canonical));
  const sizes = ['size', 'width', 'height', 'resolution', 'image_size'];
  const lengths = ['num_frames', 'seconds'];
  const isDisplaced = (name: string) =>
    given.has(canonical(name)) ||
    [sizes, lengths].some((group) => group.includes(name) && group.some((other) => given.has(canonical(other))));
  const kept = Object.entries(defaults).filter(([name, value]) => value !== null && !isDisplaced(name));
  return { ...rest, fields: { ...Object.fromEntries(kept), ...fields }, extra };
}

/**
 * A form field of the route alone that is one of some words.
 * @throws RequestError
 */
export function readWord<const Word extends string>(values: Named, name: string, words: readonly Word[]): Word | null {
  const value = values[name];
  if (value === undefined || value === null || value === '') return null;
  const text = typeof value === 'string' ? value.trim().toLowerCase() : value;
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  throw new RequestError('invalid_value', name, `${name} must be one of ${words.join(', ')}, got ${showValue(value)}`);
}

/** A switch of the route alone. @throws RequestError */
export function readSwitch(values: Named, name: string): boolean {
  const value = values[name];
  if (value === undefined || value === null || value === '') return false;
  const text = typeof value === 'string' ? value.trim().toLowerCase() : value;
  if (text === true || text === 1 || text === '1' || text === 'true' || text === 'yes' || text === 'on') return true;
  if (text === false || text === 0 || text === '0' || text === 'false' || text === 'no' || text === 'off') return false;
  throw new RequestError('invalid_value', name, `${name} must be true or false, got ${showValue(value)}`);
}

/** The `lora` object, checked in the words of the original interface, and then refused. @throws RequestError */
export function refuseLora(lora: Named | null): void {
  if (lora === null || Object.keys(lora).length === 0) return;
  const name = lora.name ?? lora.lora_name ?? lora.adapter;
  const path = lora.path ?? lora.local_path ?? lora.lora_path ?? lora.lora_local_path;
  if (typeof name !== 'string' || typeof path !== 'string' || name === '' || path === '') {
    throw new RequestError('invalid_value', 'lora', 'Invalid lora object: both name and path are required.');
  }
  throw new RequestError('unsupported', 'lora', `lora: ${unavailableNames.lora ?? 'adapters are not available'}`);
}
