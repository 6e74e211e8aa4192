import { describe, expect, it } from 'vitest';
import { panBy, transformOf, viewAfterKey, wholeView, zoomAt } from './zoom.js';

describe('zoomAt', () => {
  it('keeps the point under the pointer', () => {
    const view = zoomAt(wholeView, 4, { x: 0.25, y: 0.75 });
    expect(view).toEqual({ scale: 4, x: -0.75, y: -2.25 });
    // The picture's place at the point: (point - shift) / scale.
    expect((0.25 - view.x) / view.scale).toBe(0.25);
    expect((0.75 - view.y) / view.scale).toBe(0.75);
  });

  it('goes from 1 to 16 and comes back whole', () => {
    expect(zoomAt(wholeView, 1000, { x: 0, y: 0 }).scale).toBe(16);
    expect(zoomAt({ scale: 4, x: -0.75, y: -2.25 }, 0.01, { x: 0.9, y: 0.1 })).toEqual(wholeView);
  });
});

describe('panBy', () => {
  it('leaves no part of the box empty', () => {
    expect(panBy({ scale: 2, x: -0.5, y: -0.5 }, 3, -3)).toEqual({ scale: 2, x: 0, y: -1 });
    expect(panBy(wholeView, 0.3, 0.3)).toEqual(wholeView);
  });
});

describe('keys', () => {
  it('zoom, move and reset', () => {
    expect(viewAfterKey(wholeView, '+')).toEqual({ scale: 1.5, x: -0.25, y: -0.25 });
    expect(viewAfterKey({ scale: 2, x: -0.5, y: -0.5 }, 'ArrowRight')).toEqual({ scale: 2, x: -0.6, y: -0.5 });
    expect(viewAfterKey({ scale: 2, x: -0.5, y: -0.5 }, '0')).toEqual(wholeView);
    expect(viewAfterKey(wholeView, 'a')).toBeNull();
  });

  it('are written as CSS', () => {
    expect(transformOf({ scale: 1.5, x: -0.25, y: 0 })).toBe('translate(-25%, 0%) scale(1.5)');
  });
});
