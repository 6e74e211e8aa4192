import { describe, expect, it } from 'vitest';
import { resultFrames } from './output.js';

const chunk = { index: 1, start: 4, frames: 5, overlap: 1, adds: 3 };

function frames(first: number, count: number) {
  const data = Uint8Array.from({ length: count * 2 * 3 }, (_, i) => 10 * (first + Math.floor(i / 6)) + (i % 6));
  return { first, count, width: 2, height: 1, data };
}

describe('resultFrames', () => {
  it('drops the overlap and cuts to length', () => {
    const part = resultFrames(chunk, frames(0, 5), []);
    expect(part?.count).toBe(3);
    expect([...(part?.data ?? [])].filter((_, i) => i % 6 === 0)).toEqual([10, 20, 30]);
  });

  it('gives nothing where no frame belongs to the result', () => {
    expect(resultFrames(chunk, frames(0, 1), [])).toBeNull();
  });

  it('puts panels to the left of each row: input, controls, generated', () => {
    const panel = (value: number) => new Uint8Array(5 * 2 * 3).fill(value);
    const part = resultFrames(chunk, frames(1, 1), [panel(1), panel(2)]);
    expect(part?.width).toBe(6);
    expect([...(part?.data ?? [])]).toEqual([1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 10, 11, 12, 13, 14, 15]);
  });
});
