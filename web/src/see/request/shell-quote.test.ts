import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { commandOf, quoteWord } from './shell-quote.js';

const odd = [
  'plain',
  '',
  "it's",
  '$HOME `id` "x" \\ !',
  '-n',
  'two\nlines',
  'ünï ☃ 你好',
  '*.png ? [a]',
  '~/x',
  'a;b&c|d>e<f(g)#h',
  "'''",
  '{"a": "b\'c"}',
  'x=~y',
];

describe('quoteWord', () => {
  it('is read back by a shell as it was', () => {
    const script = `for word in ${odd.map(quoteWord).join(' ')}; do printf '%s\\0' "$word"; done`;
    const output = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
    expect(output.split('\0').slice(0, -1)).toEqual(odd);
  });

  it('leaves simple words alone', () => {
    expect(quoteWord('--size')).toBe('--size');
    expect(quoteWord('image.png')).toBe('image.png');
    expect(quoteWord('a b')).toBe("'a b'");
  });
});

describe('commandOf', () => {
  it('continues lines', () => {
    expect(execFileSync('sh', ['-c', commandOf(['printf', "'%s-%s'", 'a', 'b'])], { encoding: 'utf8' })).toBe('a-b');
  });
});
