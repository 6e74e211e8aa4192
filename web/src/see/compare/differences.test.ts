import { describe, expect, it } from 'vitest';
import { cellOf, differencesOf } from './differences.js';

describe('differencesOf', () => {
  it('looks into objects and compares lists as wholes', () => {
    const first = { prompt: 'x', seed: 1, extra_params: { edge: { preset: 'low' }, skip_steps: [1, 2] } };
    const second = { prompt: 'x', seed: 2, extra_params: { edge: { preset: 'high' }, skip_steps: [1, 2] }, fps: 8 };
    expect(differencesOf(first, second)).toEqual([
      { name: 'seed', first: 1, second: 2 },
      { name: 'extra_params.edge.preset', first: 'low', second: 'high' },
      { name: 'fps', first: undefined, second: 8 },
    ]);
    expect(differencesOf(first, first)).toEqual([]);
  });
});

describe('cellOf', () => {
  it('is short', () => {
    expect([undefined, 'a', 1, [1], true].map(cellOf)).toEqual(['–', 'a', '1', '[1]', 'true']);
    expect(cellOf('x'.repeat(300)).length).toBe(200);
  });
});
