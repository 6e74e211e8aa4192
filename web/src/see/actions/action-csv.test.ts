import { describe, expect, it } from 'vitest';
import { actionCsv, shortFloat } from './action-csv.js';

describe('shortFloat', () => {
  it('reads back as the same float32', () => {
    expect(shortFloat(Math.fround(0.1))).toBe('0.1');
    expect(shortFloat(-1)).toBe('-1');
    expect(shortFloat(0)).toBe('0');
    expect(shortFloat(Math.fround(1 / 3))).toBe('0.33333334');
    for (const value of [Math.PI, 1e-8, 123456.789, -7.25e20]) {
      expect(Math.fround(Number(shortFloat(value)))).toBe(Math.fround(value));
    }
  });
});

describe('actionCsv', () => {
  it('has a header and a line for each row', () => {
    const table = {
      rows: [
        [Math.fround(0.1), 1],
        [0, -2.5],
      ],
      labels: ['x', 'grip, "r"'],
      frames: 3,
      fps: 10,
    };
    expect(actionCsv(table)).toBe('step,frame,seconds,x,"grip, ""r"""\r\n0,1,0.1,0.1,1\r\n1,2,0.2,0,-2.5\r\n');
  });

  it('counts steps where there is no clip', () => {
    expect(actionCsv({ rows: [[1]], labels: ['x'], frames: 0, fps: 0 })).toBe('step,frame,seconds,x\r\n0,0,,1\r\n');
  });
});
