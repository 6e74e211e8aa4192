import { describe, expect, it } from 'vitest';
import { RequestError } from '../../protocol/index.js';
import { FormValues, listsOf } from './form-names.js';
import { parseJson, readObjectField } from './json-text.js';

describe('names of form fields', () => {
  it('build objects and lists', () => {
    const form = new FormValues();
    for (const [name, value] of [
      ['prompt', 'a'],
      ['extra_params[seed]', '1'],
      ['extra_params[edge][control_weight]', '2'],
      ['list[]', 'x'],
      ['list[]', 'y'],
      ['prompt', 'b'],
    ] as const)
      form.add(name, value);
    expect(Object.fromEntries(Object.entries(form.values).map(([name, value]) => [name, listsOf(value)]))).toEqual({
      prompt: 'b',
      extra_params: { seed: '1', edge: { control_weight: '2' } },
      list: ['x', 'y'],
    });
  });

  it.each(['a[__proto__]', '__proto__', 'constructor', 'a[b][constructor]', `a${'[b]'.repeat(9)}`])(
    'refuse %s',
    (name) => {
      expect(() => new FormValues().add(name, 'x')).toThrow(RequestError);
    },
  );
});

describe('JSON of strangers', () => {
  it('is read without keys that reach a prototype', () => {
    const value = parseJson('{"a":{"__proto__":{"x":1},"b":"[[[["}}', 'x');
    expect(JSON.stringify(value)).toBe('{"a":{"b":"[[[["}}');
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it('is refused when it is deep or broken', () => {
    expect(() => parseJson('['.repeat(33) + ']'.repeat(33), 'x')).toThrow('nested deeper than 32');
    expect(parseJson('['.repeat(32) + ']'.repeat(32), 'x')).toBeInstanceOf(Array);
    expect(() => parseJson('{', 'the body')).toThrow('the body is not valid JSON');
  });

  it.each([
    ['{', 'Invalid JSON in form field.'],
    ['[1]', 'Invalid JSON in form field: expected dict, got list.'],
    ['"x"', 'expected dict, got str.'],
    ['1', 'expected dict, got int.'],
    ['1.5', 'expected dict, got float.'],
    ['true', 'expected dict, got bool.'],
  ])('speaks of fields as the original interface does: %s', (text, message) => {
    expect(() => readObjectField('extra_params', text)).toThrow(message);
  });

  it('stands for nothing when it is empty', () => {
    for (const value of [undefined, null, '', ' ', 'null']) expect(readObjectField('x', value)).toBeNull();
    expect(readObjectField('x', '{"a":1}')).toEqual({ a: 1 });
  });
});
