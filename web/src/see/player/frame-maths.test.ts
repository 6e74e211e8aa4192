import { describe, expect, it } from 'vitest';
import { clampFrame, clockOf, correctionOf, durationOf, frameAt, longestOf, stepFrame, timeOf } from './frame-maths.js';

const clip = { frames: 25, fps: 24 };

describe('frames and times', () => {
  it.each([10, 12, 15, 16, 23.976, 24, 29.97, 30, 60])('find each frame again at %d frames per second', (fps) => {
    const long = { frames: 400, fps };
    for (let frame = 0; frame < 400; frame++) {
      expect(frameAt(timeOf(frame, long), long)).toBe(frame);
      // Players report where a frame begins, in microseconds rounded down.
      expect(frameAt(Math.floor((frame / fps) * 1e6) / 1e6, long)).toBe(frame);
    }
  });

  it('stay inside the clip', () => {
    expect(frameAt(-1, clip)).toBe(0);
    expect(frameAt(99, clip)).toBe(24);
    expect(timeOf(30, clip)).toBeCloseTo(24.5 / 24, 12);
    expect(clampFrame(3.6, clip)).toBe(4);
    expect(durationOf(clip)).toBeCloseTo(1.0416667, 6);
  });

  it('step with and without a loop', () => {
    expect(stepFrame(24, 1, clip, false)).toBe(24);
    expect(stepFrame(24, 1, clip, true)).toBe(0);
    expect(stepFrame(0, -1, clip, true)).toBe(24);
    expect(stepFrame(3, -10, clip, false)).toBe(0);
    expect(stepFrame(3, -10, clip, true)).toBe(18);
  });
});

describe('clockOf', () => {
  it('writes minutes, seconds and hundredths', () => {
    expect([0, 1.25, 59.999, 61.5, -3].map(clockOf)).toEqual(['0:00.00', '0:01.25', '1:00.00', '1:01.50', '0:00.00']);
  });
});

describe('correctionOf', () => {
  it('corrects a paused player to the frame, a playing one only beyond a frame and a half', () => {
    expect(correctionOf(0.5, 0.5, clip, false)).toBeNull();
    expect(correctionOf(0.5, 0.46, clip, false)).toBeCloseTo(12.5 / 24, 9);
    expect(correctionOf(0.5, 0.46, clip, true)).toBeNull();
    expect(correctionOf(0.5, 0.2, clip, true)).toBeCloseTo(12.5 / 24, 9);
  });

  it('leaves a shorter one at its last frame', () => {
    expect(correctionOf(3, 1.03, clip, true)).toBeNull();
    expect(correctionOf(3, 1.03, clip, false)).toBeNull();
    expect(correctionOf(3, 0.1, clip, true)).toBeCloseTo(24.5 / 24, 9);
  });
});

describe('longestOf', () => {
  it('compares seconds, not frames', () => {
    expect(
      longestOf([
        { frames: 25, fps: 24 },
        { frames: 20, fps: 10 },
      ]),
    ).toEqual({ frames: 20, fps: 10 });
    expect(longestOf([])).toBeNull();
  });
});
