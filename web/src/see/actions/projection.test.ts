import { describe, expect, it } from 'vitest';
import type { Point3 } from './action-path.js';
import { ballOf, firstViewpoint, project, turnBy } from './projection.js';

const points: readonly Point3[] = [
  [0, 0, 0],
  [4, 0, 0],
];

describe('ballOf', () => {
  it('holds all points', () => {
    expect(ballOf(points)).toEqual({ middle: [2, 0, 0], radius: 2 });
    expect(ballOf([[1, 2, 3]])).toEqual({ middle: [1, 2, 3], radius: 1 });
    expect(ballOf([])).toEqual({ middle: [0, 0, 0], radius: 1 });
  });
});

describe('project', () => {
  const front = { yaw: 0, pitch: 0 };
  it('shows x to the right and y down from the front', () => {
    expect(project([0, 0, 0], front, ballOf(points), 100)).toEqual({ x: 10, y: 50 });
    expect(project([4, 0, 0], front, ballOf(points), 100)).toEqual({ x: 90, y: 50 });
    expect(project([2, 2, 0], front, ballOf(points), 100)).toEqual({ x: 50, y: 90 });
    expect(project([2, 0, 2], front, ballOf(points), 100)).toEqual({ x: 50, y: 50 });
  });

  it('shows z to the right after a quarter turn, and never leaves the picture', () => {
    const side = project([2, 0, 2], { yaw: Math.PI / 2, pitch: 0 }, ballOf(points), 100);
    expect(side.x).toBeCloseTo(90, 9);
    for (let yaw = 0; yaw < 6; yaw += 0.5) {
      const { x, y } = project([4, 0, 0], { yaw, pitch: yaw - 3 }, ballOf(points), 100);
      expect(Math.hypot(x - 50, y - 50)).toBeLessThanOrEqual(40.000001);
    }
  });
});

describe('viewpoints', () => {
  it('face a flat path and look down on others', () => {
    expect(firstViewpoint(points)).toEqual({ yaw: 0, pitch: 0 });
    expect(firstViewpoint([...points, [0, 0, 3]])).toEqual({ yaw: -0.6, pitch: 0.4 });
  });

  it('turn round and round, but not over', () => {
    expect(turnBy({ yaw: 6, pitch: 1.5 }, 1, 1)).toEqual({ yaw: 7 % (2 * Math.PI), pitch: Math.PI / 2 });
  });
});
