import { describe, expect, it } from 'vitest';
import { axesOf, pathOf } from './action-path.js';

const steps = { kind: 'pose-steps', position: 0, rotation: 3 } as const;
const noTurn = [1, 0, 0, 0, 1, 0];

describe('pathOf', () => {
  it('adds up steps without turns', () => {
    const rows = [
      [1, 0, 0, ...noTurn],
      [0.5, 2, -1, ...noTurn],
    ];
    expect(pathOf(rows, steps)).toEqual([
      [0, 0, 0],
      [1, 0, 0],
      [1.5, 2, -1],
    ]);
  });

  it('walks a square with a quarter turn about z after each step', () => {
    // Columns of the quarter turn: x goes to y, y to -x.
    const row = [1, 0, 0, 0, 1, 0, -1, 0, 0];
    const path = pathOf([row, row, row, row], steps);
    const expected = [
      [0, 0, 0],
      [1, 0, 0],
      [1, 1, 0],
      [0, 1, 0],
      [0, 0, 0],
    ];
    path.forEach((point, i) => {
      point.forEach((value, axis) => {
        expect(value).toBeCloseTo(expected[i]?.[axis] ?? Number.NaN, 12);
      });
    });
  });

  it('takes places as they are', () => {
    expect(pathOf([[0.5, -0.25]], { kind: 'places', position: 0, width: 2 })).toEqual([[0.5, -0.25, 0]]);
  });
});

describe('axesOf', () => {
  it('makes columns a rotation', () => {
    const [a, b, c] = axesOf([2, 0, 0], [1, 3, 0]);
    expect([a, b, c]).toEqual([
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ]);
  });

  it('is the identity for columns that span no plane', () => {
    expect(axesOf([0, 0, 0], [1, 0, 0])[0]).toEqual([1, 0, 0]);
    expect(axesOf([1, 1, 0], [2, 2, 0])[1]).toEqual([0, 1, 0]);
  });
});
