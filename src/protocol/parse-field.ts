// Reads one value, or a set of them, against its schema. Forms and flags carry text, so text that spells a number or a yes is taken.
import type { Static, TObject, TSchema } from 'typebox';
import Value from 'typebox/value';
import { RequestError } from './request-error.js';

const yes = new Set(['1', 'true', 'yes', 'on']);
const no = new Set(['0', 'false', 'no', 'off', '']);

/** A value as an error message shows it: short, quoted where it is text. */
export function showValue(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/**
 * Reads one value of a scalar schema (integer, number, boolean, string, enum).
 * @throws RequestError naming parameter, value and what would fit
 */
export function parseField(name: string, schema: TSchema, value: unknown): unknown {
  const coerced = coerce(schema, value);
  if (Value.Check(schema, coerced)) return coerced;
  throw new RequestError('invalid_value', name, `${name} must be ${describeAllowed(schema)}, got ${showValue(value)}`);
}

/**
 * Reads the members of `values` that `schema` knows; null and undefined are the same as absent.
 * @throws RequestError for the first that does not fit
 */
export function parseFields<Schema extends TObject>(
  schema: Schema,
  values: Readonly<Record<string, unknown>>,
): Static<Schema> {
  const parsed: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = values[name];
    if (value !== undefined && value !== null) parsed[name] = parseField(name, property, value);
  }
  if (Value.Check(schema, parsed)) return parsed;
  throw new RequestError('invalid_value', '', 'the request does not fit its schema');
}

function coerce(schema: TSchema, value: unknown): unknown {
  const type = readKey(schema, 'type');
  if (type === 'integer' || type === 'number') return toNumber(value);
  if (type === 'boolean') return toBoolean(value);
  const text = typeof value === 'number' ? String(value) : value;
  return readKey(schema, 'enum') !== undefined && typeof text === 'string' ? text.trim().toLowerCase() : text;
}

function toNumber(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)) return value;
  return Number(value);
}

function toBoolean(value: unknown): unknown {
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== 'string') return value;
  const word = value.trim().toLowerCase();
  if (yes.has(word)) return true;
  return no.has(word) ? false : value;
}

/** What a scalar schema allows, in words: `a whole number from 1 to 200`. */
export function describeAllowed(schema: TSchema): string {
  const words = readKey(schema, 'enum');
  if (Array.isArray(words)) return `one of ${words.join(', ')}`;
  const type = readKey(schema, 'type');
  if (type === 'boolean') return 'true or false';
  if (type === 'integer') return `a whole number${describeRange(schema)}`;
  if (type === 'number') return `a finite number${describeRange(schema)}`;
  const pattern = readKey(schema, 'pattern');
  if (typeof pattern !== 'string') return 'text';
  return pattern.includes('x') ? 'WIDTHxHEIGHT, as 1280x720' : 'W:H, as 16:9';
}

function describeRange(schema: TSchema): string {
  const least = readKey(schema, 'minimum');
  const most = readKey(schema, 'maximum');
  const above = readKey(schema, 'exclusiveMinimum');
  if (least !== undefined && most !== undefined) return ` from ${least} to ${most}`;
  if (least !== undefined) return ` of at least ${least}`;
  if (most !== undefined) return ` of at most ${most}`;
  return above === undefined ? '' : ` greater than ${above}`;
}

function readKey(schema: TSchema, key: string): unknown {
  return Object.entries(schema).find(([name]) => name === key)?.[1];
}
