// Flags made from the protocol's schemas: name, value and help text have one source.
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import {
  descriptionOf,
  extraParams,
  flagOf,
  generationFields,
  RequestError,
  structuredParams,
} from '../protocol/index.js';

const parameters = Object.entries({ ...generationFields, ...extraParams, ...structuredParams });

/** Commander's values by attribute. */
export type FlagValues = Readonly<Record<string, unknown>>;

/** Adds a flag for each parameter that declares one. */
export function addParameterFlags(command: Command): void {
  for (const [, schema] of parameters) {
    const declared = flagOf(schema);
    if (declared === undefined) continue;
    const { flag, value, isValueOptional } = declared;
    const suffix = value === undefined ? '' : isValueOptional ? ` [${value}]` : ` <${value}>`;
    command.addOption(new Option(`--${flag}${suffix}`, lowerFirst(descriptionOf(schema))));
  }
}

/** The flag of a parameter, `--num-frames`, if it has one. */
export function flagForParameter(param: string): string | undefined {
  const schema = parameters.find(([name]) => name === param)?.[1];
  const declared = schema === undefined ? undefined : flagOf(schema);
  return declared === undefined ? undefined : `--${declared.flag}`;
}

/**
 * Parameters that were given as flags, by their wire names. Arrays come from files.
 * @throws RequestError when a file cannot be read or holds no JSON
 */
export function readParameterFlags(values: FlagValues): Readonly<Record<string, unknown>> {
  const given: Record<string, unknown> = {};
  for (const [name, schema] of parameters) {
    const declared = flagOf(schema);
    const value = declared === undefined ? undefined : values[new Option(`--${declared.flag}`).attributeName()];
    if (value === undefined) continue;
    given[name] = name === 'action' && typeof value === 'string' ? readJsonFile('action', value) : value;
  }
  return given;
}

/** The parameters that only `--extra-body` takes, with what they do. */
export function extraKeys(): readonly (readonly [name: string, description: string])[] {
  return parameters
    .filter(([, schema]) => flagOf(schema) === undefined)
    .map(([name, schema]) => [name, descriptionOf(schema)] as const);
}

/**
 * JSON given as text, or as `@FILE`.
 * @throws RequestError unless it is an object
 */
export function readJsonObject(name: string, text: string): Readonly<Record<string, unknown>> {
  const value = text.startsWith('@') ? readJsonFile(name, text.slice(1)) : parseJson(name, text, text);
  if (isObject(value)) return value;
  throw new RequestError('invalid_value', name, `${name} must be a JSON object, as '{"flow_shift": 10}', got ${text}`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readJsonFile(name: string, path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'no such file' : String(error);
    throw new RequestError('invalid_value', name, `${name} file ${path} cannot be read: ${why}`);
  }
  return parseJson(name, text, path);
}

function parseJson(name: string, text: string, shown: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const short = shown.length > 60 ? `${shown.slice(0, 57)}...` : shown;
    if (/\bNaN\b|\bInfinity\b/.test(text)) {
      throw new RequestError(
        'invalid_value',
        name,
        `${name} ${short} holds NaN or Infinity; every number must be finite`,
      );
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new RequestError(
      'invalid_value',
      name,
      `${name} is not valid JSON (${why}): ${short}; quote it as '{"key": value}'`,
    );
  }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, '');
}
