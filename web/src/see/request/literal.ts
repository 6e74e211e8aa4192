// Values as JavaScript source.

const lineWidth = 100;

/**
 * The value as a JavaScript literal: single quotes, bare keys, short lists and objects on one line.
 * @param value as JSON has it; members that are undefined are left out
 */
export function literalOf(value: unknown, indent = ''): string {
  const short = shortLiteral(value);
  const fits = indent.length + short.length <= lineWidth;
  if (fits || typeof value !== 'object' || value === null) return short;
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((item) => literalOf(item, inner))
    : membersOf(value).map(([name, item]) => `${keyOf(name)}: ${literalOf(item, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}

/** A string literal in single quotes. */
export function stringLiteral(text: string): string {
  const body = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${body}'`;
}

function shortLiteral(value: unknown): string {
  if (typeof value === 'string') return stringLiteral(value);
  if (Array.isArray(value)) return `[${value.map(shortLiteral).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = membersOf(value).map(([name, item]) => `${keyOf(name)}: ${shortLiteral(item)}`);
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
  }
  return String(value);
}

function membersOf(value: object): readonly [string, unknown][] {
  return Object.entries(value).filter(([, item]) => item !== undefined);
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== '__proto__' ? name : stringLiteral(name);
}
