// Names of form fields: `a[b][c]=1` builds an object, as clients write it that flatten their bodies.
import { RequestError } from '../../protocol/index.js';

const deepest = 8;
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);

/** Collects form fields into values; a field that comes again replaces the one before. */
export class FormValues {
  readonly #values: Record<string, unknown> = Object.create(null);

  /** @throws RequestError for a name that cannot be one */
  add(name: string, value: string): void {
    const [head = '', ...inner] = splitName(name);
    if (inner.length === 0) {
      this.#values[head] = value;
      return;
    }
    const before = this.#values[head];
    const target: Record<string, unknown> = isPlain(before) ? before : Object.create(null);
    this.#values[head] = target;
    put(target, inner, value);
  }

  get values(): Readonly<Record<string, unknown>> {
    return { ...this.#values };
  }
}

function splitName(name: string): readonly string[] {
  const [, head = name, tail = ''] = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name) ?? [];
  const parts = [head, ...[...tail.matchAll(/\[([^[\]]*)\]/g)].map(([, key = '']) => key)];
  if (parts.length > deepest || parts.some((part) => forbidden.has(part))) {
    throw new RequestError('invalid_body', null, `form field ${name.slice(0, 80)} has a name that is not taken`);
  }
  return parts;
}

function put(target: Record<string, unknown>, path: readonly string[], value: string): void {
  const [key = '', ...rest] = path;
  // `a[]=1&a[]=2` makes a list: numbered keys, which the reader of the object turns into one.
  const name = key === '' ? String(Object.keys(target).length) : key;
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  const before = target[name];
  const inner: Record<string, unknown> = isPlain(before) ? before : Object.create(null);
  target[name] = inner;
  put(inner, rest, value);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Objects whose keys count from 0 become lists; what they hold likewise. */
export function listsOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, listsOf(inner)] as const);
  const isList = entries.length > 0 && entries.every(([key], i) => key === String(i));
  return isList ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}
