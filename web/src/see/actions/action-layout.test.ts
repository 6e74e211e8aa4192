import { describe, expect, it } from 'vitest';
import { labelsOf, layoutOf } from './action-layout.js';

describe('layoutOf', () => {
  it.each(Array.from({ length: 64 }, (_, i) => i + 1))('names each of %d columns once', (width) => {
    const layout = layoutOf(width);
    const indexes = layout.groups.flatMap(({ columns }) => columns.map(({ index }) => index));
    expect(indexes.toSorted((a, b) => a - b)).toEqual(Array.from({ length: width }, (_, i) => i));
    expect(new Set(labelsOf(layout)).size).toBe(width);
  });

  it('knows a pose with a gripper, and two of them', () => {
    expect(labelsOf(layoutOf(10))).toEqual(['x', 'y', 'z', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'gripper']);
    expect(labelsOf(layoutOf(20)).slice(9, 12)).toEqual(['1 gripper', '2 x', '2 y']);
    expect(layoutOf(20).paths.map(({ gripper }) => gripper)).toEqual([9, 19]);
    expect(layoutOf(9).paths).toEqual([
      { arm: 0, source: { kind: 'pose-steps', position: 0, rotation: 3 }, gripper: null },
    ]);
  });

  it('tells joints from positions by the words of the rows', () => {
    expect(labelsOf(layoutOf(8))).toEqual(['q1', 'q2', 'q3', 'q4', 'q5', 'q6', 'q7', 'gripper']);
    expect(layoutOf(8).paths).toEqual([]);
    expect(labelsOf(layoutOf(8, 'midtrain'))).toEqual(['x', 'y', 'z', 'qx', 'qy', 'qz', 'qw', 'gripper']);
  });
});
