// JSON from strangers: parsed within a depth, and without keys that would reach an object's prototype.
import { RequestError, showValue } from '../../protocol/index.js';

/** Deepest nesting that is read: actions and inline frames have four levels. */
export const depthLimit = 32;

/**
 * Parses JSON.
 * @throws RequestError `invalid_body` when it is malformed or nested deeper than `depthLimit`
 */
export function parseJson(text: string, name: string): unknown {
  checkDepth(text, name);
  try {
    return JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RequestError('invalid_body', null, `${name} is not valid JSON: ${why}`);
  }
}

function checkDepth(text: string, name: string): void {
  let depth = 0;
  let isText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isText) {
      if (code === 92) i++;
      else if (code === 34) isText = false;
    } else if (code === 34) isText = true;
    else if (code === 91 || code === 123) {
      if (++depth > depthLimit) {
        throw new RequestError('invalid_body', null, `${name} is nested deeper than ${depthLimit} levels; flatten it`);
      }
    } else if (code === 93 || code === 125) depth--;
  }
}

/**
 * A form field that holds a JSON object, or the object itself.
 * @returns null for absent ones: undefined, null, empty text
 * @throws RequestError in the words of the original interface
 */
export function readObjectField(name: string, value: unknown): Readonly<Record<string, unknown>> | null {
  const parsed = typeof value === 'string' ? parseObjectText(name, value) : value;
  if (parsed === undefined || parsed === null) return null;
  if (isRecord(parsed)) return parsed;
  throw new RequestError(
    'invalid_value',
    name,
    `Invalid JSON in form field: expected dict, got ${pythonType(parsed)}. ${name} must be an object, got ${showValue(parsed)}`,
  );
}

function parseObjectText(name: string, text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return parseJson(text, name);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RequestError('invalid_value', name, `Invalid JSON in form field. ${why}`);
  }
}

/** Whether a value is an object with named members. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pythonType(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  return Number.isInteger(value) ? 'int' : 'float';
}
