import { expect, it } from 'vitest';
import { readLora } from './read-lora.js';

it('reads path and scale, from text or numbers', () => {
  expect(readLora({})).toBeUndefined();
  expect(readLora({ path: 'a' })).toEqual({ path: 'a', scale: 1 });
  expect(readLora({ path: 'a', scale: '-0.5' })).toEqual({ path: 'a', scale: -0.5 });
  expect(readLora({ path: 'a', scale: 0 })).toEqual({ path: 'a', scale: 0 });
});

it('refuses a scale that is no number, and one without an adapter', () => {
  for (const scale of ['much', '', ' ', 'Infinity', Number.NaN])
    expect(() => readLora({ path: 'a', scale })).toThrow('--lora-scale must be a number, got ');
  expect(() => readLora({ scale: 1 })).toThrow('--lora-scale says nothing without an adapter; add --lora-path');
});
