import { describe, expect, it } from 'vitest';
import { extentOf, frameOfRow, linePath, rowOfFrame, scaleTo, ticksOf } from './plot-scale.js';

describe('extentOf', () => {
  it('has a margin and is never empty', () => {
    expect(extentOf([1, 11])).toEqual({ low: 0, high: 12 });
    expect(extentOf([3, 3])).toEqual({ low: 2.5, high: 3.5 });
    expect(extentOf([])).toEqual({ low: 0, high: 1 });
    expect(extentOf([Number.NaN, 1, 11])).toEqual({ low: 0, high: 12 });
  });
});

describe('ticksOf', () => {
  it('are round and inside', () => {
    expect(ticksOf({ low: -0.1, high: 1.1 }, 4)).toEqual([0, 0.5, 1]);
    expect(ticksOf({ low: 0, high: 12 }, 4)).toEqual([0, 5, 10]);
    expect(ticksOf({ low: -0.003, high: 0.0041 }, 3)).toEqual([0]);
    expect(ticksOf({ low: 0, high: 0.3 }, 3)).toEqual([0, 0.1, 0.2, 0.3]);
  });
});

describe('lines', () => {
  it('go from end to end', () => {
    expect(scaleTo(5, { low: 0, high: 10 }, 100, 0)).toBe(50);
    expect(
      linePath([
        { x: 0, y: 1 },
        { x: 1, y: 2.345 },
      ]),
    ).toBe('M0 1L1 2.35');
    expect(
      linePath([
        { x: 0, y: 1 },
        { x: 1, y: Number.NaN },
        { x: 2, y: 3 },
      ]),
    ).toBe('M0 1M2 3');
  });
});

describe('rows and frames', () => {
  it('differ by one where the clip has a frame more', () => {
    expect([0, 1, 2, 16].map((frame) => rowOfFrame(frame, 16, 17))).toEqual([0, 0, 1, 15]);
    expect(frameOfRow(0, 16, 17)).toBe(1);
    expect(frameOfRow(15, 16, 17)).toBe(16);
    expect(rowOfFrame(3, 16, 16)).toBe(3);
    expect(frameOfRow(20, 16, 16)).toBe(15);
  });
});
