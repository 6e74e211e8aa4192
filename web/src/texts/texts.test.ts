import { expect, test } from 'vitest';
import { formatBytes, formatLarge, formatNumber, formatSeconds } from './format.js';
import { pickLanguage, t, tMaybe } from './t.js';

test('texts are filled in, and the plural follows the count', () => {
  expect(t('watch.place', { place: 3 })).toBe('Place 3 in the queue');
  expect(t('unit.frames', { count: 1 })).toBe('1 frame');
  expect(t('unit.frames', { count: 5 })).toBe('5 frames');
  expect(t('watch.left')).toBe('{time} left');
  expect(tMaybe('field.seed_of_doubt')).toBeUndefined();
  expect(pickLanguage(['xx-YY', 'en-GB'])).toBe('en');
});

test('lengths of time, sizes and counts are short', () => {
  expect([0.04, 9.9, 9.96, 59.6, 61, 3600, 5400].map(formatSeconds)).toEqual([
    '0 s',
    '9.9 s',
    '10 s',
    '1 min',
    '1 min 1 s',
    '1 h',
    '1 h 30 min',
  ]);
  expect([-0.0004, -0.04, 1234.5].map((value) => formatNumber(value, 3))).toEqual(['0', '-0.04', '1,234.5']);
  expect([0, 900, 1536, 25e9].map(formatBytes)).toEqual(['0 B', '900 B', '1.5 kB', '23 GB']);
  expect([0, 999, 1500, 15.3e9].map(formatLarge)).toEqual(['0', '999', '1.5 k', '15 G']);
});
