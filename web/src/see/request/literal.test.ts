import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { literalOf, stringLiteral } from './literal.js';

describe('literalOf', () => {
  it('is read back as it was', () => {
    const value = {
      prompt: 'It\'s a "red" ball \\ $x `y`\n\u2028 next',
      size: '96x96',
      seed: -5,
      'odd name': [true, null, 0.5],
      nested: { rows: Array.from({ length: 12 }, (_, i) => Array.from({ length: 10 }, (_, j) => i + j / 10)) },
    };
    expect(JSON.parse(JSON.stringify(runInNewContext(`(${literalOf(value)})`)))).toEqual(value);
  });

  it('writes short things on one line and leaves undefined out', () => {
    expect(literalOf({ a: 1, b: undefined, 'c-d': ['x'] })).toBe("{ a: 1, 'c-d': ['x'] }");
    expect(literalOf({})).toBe('{}');
  });

  it('breaks long things', () => {
    const text = 'x'.repeat(60);
    expect(literalOf({ a: text, b: text })).toBe(`{\n  a: '${text}',\n  b: '${text}',\n}`);
  });
});

describe('stringLiteral', () => {
  it('uses single quotes', () => {
    expect(stringLiteral('a "b" c\'d')).toBe("'a \"b\" c\\'d'");
  });
});
