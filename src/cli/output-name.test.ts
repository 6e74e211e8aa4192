import { expect, it } from 'vitest';
import { defaultOutputName } from './output-name.js';
import { formatSeconds, formatTable } from './print.js';

it.each([
  ['A red ball rolls to the right.', 'a-red-ball-rolls-to-the.mp4'],
  ['Ein Häuschen, früh', 'ein-hauschen-fruh.mp4'],
  ['日本', 'orrery.mp4'],
  ['../../etc/passwd', 'etc-passwd.mp4'],
])('names %s', (prompt, name) => {
  expect(defaultOutputName(prompt, 'mp4', () => false)).toBe(name);
});

it('never takes a name that exists', () => {
  const taken = new Set(['a.png', 'a-2.png']);
  expect(defaultOutputName('a', 'png', (path) => taken.has(path))).toBe('a-3.png');
});

it.each([
  [0.04, '0.0 s'],
  [9.96, '10.0 s'],
  [42.4, '42 s'],
  [185, '3 min 05 s'],
  [7260, '2 h 01 min'],
])('shows %d seconds as %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});

it('aligns columns', () => {
  expect(
    formatTable([
      ['a', 'bb', ''],
      ['ccc', 'd', 'e'],
    ]),
  ).toBe('a    bb\nccc  d   e');
});
