import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dumpJson, parseJsonObject } from './python-json.js';

const rewrite = (text: string) => {
  const object = parseJsonObject(text);
  return object && dumpJson(object);
};

describe('JSON as Python writes it', () => {
  // Expected values are those of json.dumps(json.loads(text)) of CPython 3.12.
  it.each([
    ['{"b":1,"a":[1,2.50,null,true]}', '{"b": 1, "a": [1, 2.5, null, true]}'],
    ['{"10":1,"2":2}', '{"10": 1, "2": 2}'],
    ['{"a":1,"b":2,"a":3}', '{"a": 3, "b": 2}'],
    [
      '{"f":24.0,"e":1E3,"n":-0,"z":-0.0,"s":1e-7,"i":123456789012345678901}',
      '{"f": 24.0, "e": 1000.0, "n": 0, "z": -0.0, "s": 1e-07, "i": 123456789012345678901}',
    ],
    [
      '{"t":"café 你好 🙂 \\u007f \\"q\\" \\\\ \\/ \\n\\t\\b\\f\\r\\u0001"}',
      '{"t": "caf\\u00e9 \\u4f60\\u597d \\ud83d\\ude42 \\u007f \\"q\\" \\\\ / \\n\\t\\b\\f\\r\\u0001"}',
    ],
    [' { } ', '{}'],
    ['{"a":{"b":[ [ ] , { } ]}}', '{"a": {"b": [[], {}]}}'],
    ['{"__proto__":1}', '{"__proto__": 1}'],
  ])('%s', (text, expected) => {
    expect(rewrite(text)).toBe(expected);
  });

  it.each(['', 'a cat', '[1]', '"a"', '1', '{"a":}', '{a:1}', '{"a":1} x'])('takes %j for no object', (text) => {
    expect(parseJsonObject(text)).toBeNull();
  });

  it('gives up on nesting instead of overflowing', () => {
    const deep = (n: number) => `{"a":${'['.repeat(n)}${']'.repeat(n)}}`;
    expect(parseJsonObject(deep(100_000))).toBeNull();
    expect(rewrite(deep(100))).toBe(`{"a": ${'['.repeat(100)}${']'.repeat(100)}}`);
  });

  it('keeps the meaning of any object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(rewrite(text) ?? '')).toEqual(JSON.parse(text));
      }),
    );
  });
});
