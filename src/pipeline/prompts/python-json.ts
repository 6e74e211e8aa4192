// JSON as Python's json module reads and writes it: key order kept, whole numbers and floats told apart, ASCII only.
import { formatFloat } from './python-text.js';

/** A JSON value. Numbers and literals are kept as the text Python would write for them. */
export type PythonJson =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'array'; readonly items: readonly PythonJson[] }
  | { readonly kind: 'object'; readonly entries: Map<string, PythonJson> };

export type PythonObject = Extract<PythonJson, { kind: 'object' }>;

/** Deepest nesting that is read; Python stops at its recursion limit as well. */
const maxDepth = 200;

export const jsonString = (value: string): PythonJson => ({ kind: 'string', value });
export const jsonInteger = (value: number): PythonJson => ({ kind: 'literal', text: String(value) });
export const jsonFloat = (value: number): PythonJson => ({ kind: 'literal', text: formatFloat(value) });
export const jsonArray = (items: readonly PythonJson[]): PythonJson => ({ kind: 'array', items });
export const jsonObject = (entries: Record<string, PythonJson>): PythonJson => ({
  kind: 'object',
  entries: new Map(Object.entries(entries)),
});

/** Reads a text that is one JSON object; null for any other text, and for one nested more than 200 deep. */
export function parseJsonObject(text: string): PythonObject | null {
  // The library decides what is JSON, so that the reader below may trust the text.
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const value = new Reader(text).value(0);
  return value?.kind === 'object' ? value : null;
}

/** `json.dumps(value)` with its default separators. */
export function dumpJson(value: PythonJson): string {
  switch (value.kind) {
    case 'literal':
      return value.text;
    case 'string':
      return quote(value.value);
    case 'array':
      return `[${value.items.map(dumpJson).join(', ')}]`;
    case 'object':
      return `{${[...value.entries].map(([key, item]) => `${quote(key)}: ${dumpJson(item)}`).join(', ')}}`;
    default:
      return value satisfies never;
  }
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function quote(text: string): string {
  // Without the u flag each half of a surrogate pair is a match of its own, as Python writes it.
  const body = text.replace(
    /["\\]|[^ -~]/g,
    (char) => shortEscapes[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${body}"`;
}

/** Reads text that is known to be JSON. JSON.parse itself would reorder keys that look like numbers and turn 24.0 into 24. */
class Reader {
  #at = 0;

  constructor(private readonly text: string) {}

  /** The value at the current place; null when it is nested too deeply. */
  value(depth: number): PythonJson | null {
    if (depth > maxDepth) return null;
    const first = this.#peek();
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#array(depth);
    if (first === '"') return jsonString(this.#string());
    return { kind: 'literal', text: pythonLiteral(this.#take(/[^\s,\]}]+/y)) };
  }

  #object(depth: number): PythonJson | null {
    const entries = new Map<string, PythonJson>();
    this.#at++;
    while (this.#peek() !== '}') {
      if (this.#peek() === ',') this.#at++;
      this.#peek();
      const key = this.#string();
      this.#peek();
      this.#at++; // the colon
      const value = this.value(depth + 1);
      if (!value) return null;
      entries.set(key, value);
    }
    this.#at++;
    return { kind: 'object', entries };
  }

  #array(depth: number): PythonJson | null {
    const items: PythonJson[] = [];
    this.#at++;
    while (this.#peek() !== ']') {
      if (this.#peek() === ',') this.#at++;
      const value = this.value(depth + 1);
      if (!value) return null;
      items.push(value);
    }
    this.#at++;
    return jsonArray(items);
  }

  #string(): string {
    const start = this.#at++;
    while (this.text[this.#at] !== '"') this.#at += this.text[this.#at] === '\\' ? 2 : 1;
    this.#at++;
    return String(JSON.parse(this.text.slice(start, this.#at)));
  }

  /** The next character that is no white space. */
  #peek(): string {
    this.#take(/[ \t\n\r]*/y);
    return this.text[this.#at] ?? '';
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }
}

function pythonLiteral(text: string): string {
  if (/^-?\d+$/.test(text)) return text === '-0' ? '0' : text;
  return /^[-\d]/.test(text) ? formatFloat(Number(text)) : text;
}
