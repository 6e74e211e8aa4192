import { expect, test } from 'vitest';
import { nearestSize, shapeName, shapesOf } from './sizes.js';

test('trained sizes have everyday shapes', () => {
  const sizes = {
    '320x192': '16:9',
    '1280x720': '16:9',
    '736x544': '4:3',
    '256x320': '3:4',
    '512x768': '2:3',
    '640x640': '1:1',
  };
  for (const [size, label] of Object.entries(sizes)) {
    const [width = 0, height = 0] = size.split('x').map(Number);
    expect(shapeName(width, height), size).toBe(label);
  }
});

test('sizes are sorted by shape, small ones first', () => {
  const shapes = shapesOf({ '480': ['640x640', '832x480'], '256': ['256x256', '320x192'] });
  expect(shapes.map(({ label, sizes }) => [label, sizes.map(({ tier }) => tier)])).toEqual([
    ['1:1', ['256', '480']],
    ['16:9', ['256', '480']],
  ]);
  const wide = shapes[1];
  expect(wide && nearestSize(wide, 320 * 192)?.width).toBe(320);
  expect(wide && nearestSize(wide, 1280 * 720)?.width).toBe(832);
});
