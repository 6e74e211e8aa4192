import { describe, expect, it } from 'vitest';
import { drawnRange, itemAfterKey, layOutGrid, placeOf, scrollToShow } from './virtual-window.js';

const shape = { count: 5000, width: 1000, leastColumn: 240, gap: 16, cardHeight: (width: number) => width * 0.75 + 60 };
const layout = layOutGrid(shape);

describe('layOutGrid', () => {
  it('has as many columns as fit', () => {
    expect(layout).toEqual({ columns: 3, columnWidth: 968 / 3, rows: 1667, rowHeight: 318, height: 1667 * 318 - 16 });
    expect(layOutGrid({ ...shape, width: 1008 }).columns).toBe(4);
    expect(layOutGrid({ ...shape, width: 1007 }).columns).toBe(3);
    expect(layOutGrid({ ...shape, width: 200 })).toMatchObject({ columns: 1, columnWidth: 200 });
    expect(layOutGrid({ ...shape, count: 0 })).toMatchObject({ rows: 0, height: 0 });
  });
});

describe('drawnRange', () => {
  it('is what is near the screen, wherever it is', () => {
    expect(drawnRange(layout, 5000, 0, 800)).toEqual({ first: 0, end: 15 });
    expect(drawnRange(layout, 5000, 318 * 100, 800)).toEqual({ first: 98 * 3, end: 105 * 3 });
    expect(drawnRange(layout, 5000, layout.height - 800, 800).end).toBe(5000);
    expect(drawnRange(layout, 5000, -5000, 800)).toEqual({ first: 0, end: 0 });
    expect(drawnRange(layOutGrid({ ...shape, count: 0 }), 0, 0, 800)).toEqual({ first: 0, end: 0 });
  });

  it('never draws more than the screen and the spare rows need', () => {
    for (let top = -1000; top < layout.height + 1000; top += 997) {
      const { first, end } = drawnRange(layout, 5000, top, 800);
      expect(end - first).toBeLessThanOrEqual((Math.ceil(800 / 318) + 1 + 4) * 3);
      expect(end).toBeGreaterThanOrEqual(first);
    }
  });
});

describe('scrollToShow', () => {
  it('moves just as far as is needed', () => {
    expect(scrollToShow(0, layout, 0, 800)).toBe(-16);
    expect(scrollToShow(0, layout, 500, 800)).toBe(-516);
    expect(scrollToShow(3, layout, 0, 800)).toBe(0);
    expect(scrollToShow(9, layout, 0, 800)).toBe(954 - 16 + 318 + 32 - 800);
  });
});

describe('placeOf', () => {
  it('counts columns, then rows', () => {
    expect(placeOf(4, layout, 16)).toEqual({ x: 968 / 3 + 16, y: 318 });
  });
});

describe('itemAfterKey', () => {
  it('moves through the grid and stops at its edges', () => {
    const itemAfter = (key: string, index: number) => itemAfterKey(key, index, 10, layout, 2);
    expect(itemAfter('ArrowRight', 0)).toBe(1);
    expect(itemAfter('ArrowLeft', 0)).toBeNull();
    expect(itemAfter('ArrowDown', 6)).toBe(9);
    expect(itemAfter('ArrowDown', 7)).toBeNull();
    expect(itemAfter('ArrowUp', 4)).toBe(1);
    expect(itemAfter('PageDown', 6)).toBe(9);
    expect(itemAfter('PageUp', 1)).toBe(0);
    expect(itemAfter('End', 3)).toBe(9);
    expect(itemAfter('Home', 0)).toBeNull();
    expect(itemAfter('a', 3)).toBeNull();
  });
});
