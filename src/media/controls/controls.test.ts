import { describe, expect, it } from 'vitest';
import { readCase } from '../../../test/golden/read-case.js';
import type { RgbClip } from '../types.js';
import { bilateralParameters, blurControl, blurPresets } from './blur.js';
import { edgeControl, edgePresets } from './edge.js';
import { mirrorIndexes } from './mirror.js';
import { loadVision } from './opencv.js';

const golden = readCase('opencv_controls');
const source: RgbClip = { width: 160, height: 96, frames: 1, fps: 24, data: golden.bytes('image_u8') };

/** Largest absolute difference and the number of values that differ. */
function compare(found: Uint8Array, expected: Uint8Array): { largest: number; differing: number } {
  expect(found.length).toBe(expected.length);
  let largest = 0;
  let differing = 0;
  for (let i = 0; i < found.length; i++) {
    const difference = Math.abs((found[i] as number) - (expected[i] as number));
    largest = Math.max(largest, difference);
    if (difference > 0) differing++;
  }
  return { largest, differing };
}

describe('edge control', () => {
  it.each(edgePresets)('equals the reference exactly with preset %s', async (preset) => {
    const edges = await edgeControl(source, preset);
    const expected = golden.bytes(`canny_rgb/${preset === 'none' ? 'very_low' : preset}`);
    for (let channel = 0; channel < 3; channel++) {
      expect(
        compare(
          edges.data.filter((_, i) => i % 3 === channel),
          expected,
        ),
      ).toEqual({ largest: 0, differing: 0 });
    }
    expect(edges).toMatchObject({ width: 160, height: 96, frames: 1, fps: 24 });
  });
});

describe('blur control', () => {
  it.each(blurPresets.filter((preset) => preset !== 'none'))(
    'equals the reference within 1 with preset %s',
    async (preset) => {
      const blurred = await blurControl(source, preset);
      const { largest, differing } = compare(blurred.data, golden.bytes(`blur/${preset}`));
      expect(largest).toBeLessThanOrEqual(1);
      expect(differing).toBeLessThan(0.001 * blurred.data.length);
    },
  );

  it('leaves the picture alone with preset none, as a copy', async () => {
    const copy = await blurControl(source, 'none');
    expect(compare(copy.data, source.data).largest).toBe(0);
    expect(copy.data.buffer).not.toBe(source.data.buffer);
  });

  it('scales the bilateral filter with the longer side', () => {
    expect(bilateralParameters(720)).toEqual({ diameter: 31, sigmaColor: 150, sigmaSpace: 100 });
    expect(bilateralParameters(72)).toEqual({ diameter: 3, sigmaColor: 15, sigmaSpace: 10 });
    expect(bilateralParameters(2)).toEqual({ diameter: 1, sigmaColor: 1, sigmaSpace: 1 });
  });

  it('stops between frames when told', async () => {
    const stop = new AbortController();
    const clip: RgbClip = { width: 8, height: 8, frames: 50, fps: 8, data: new Uint8Array(50 * 192) };
    setImmediate(() => stop.abort());
    await expect(edgeControl(clip, 'low', stop.signal)).rejects.toMatchObject({ code: 'aborted' });
    await expect(blurControl(clip, 'low', stop.signal)).rejects.toThrow('stopped at frame 0 of 50');
  });

  it('handles pictures smaller than the factors', async () => {
    const dot: RgbClip = { width: 3, height: 2, frames: 2, fps: null, data: new Uint8Array(36).fill(77) };
    expect((await blurControl(dot, 'very_high')).data).toEqual(dot.data);
  });
});

describe('OpenCV operations', () => {
  it('match the reference', async () => {
    const vision = await loadVision();
    const small = { width: 16, height: 9, data: golden.bytes('area_down10') };
    expect(compare(vision.resize(source, 16, 9, 'area').data, small.data).largest).toBe(0);
    expect(compare(vision.resize(small, 160, 96, 'linear').data, golden.bytes('bilinear_up10')).largest).toBe(0);
    expect(
      compare(vision.bilateral(source, 30, 150, 100).data, golden.bytes('bilateral/d30')).largest,
    ).toBeLessThanOrEqual(1);
    expect(
      compare(vision.bilateral(source, 4, 150, 100).data, golden.bytes('bilateral/d4')).largest,
    ).toBeLessThanOrEqual(1);
  });

  it('leave no process-wide handlers behind', async () => {
    const before = [process.listenerCount('uncaughtException'), process.listenerCount('unhandledRejection')];
    await Promise.all([loadVision(), loadVision()]);
    expect([process.listenerCount('uncaughtException'), process.listenerCount('unhandledRejection')]).toEqual(before);
  });
});

describe('mirrorIndexes', () => {
  it('goes back from the last frame itself, then forwards', () => {
    expect(mirrorIndexes(3, 10)).toEqual([0, 1, 2, 2, 1, 1, 2, 2, 1, 1]);
    expect(mirrorIndexes(4, 6)).toEqual([0, 1, 2, 3, 3, 2]);
    expect(mirrorIndexes(2, 5)).toEqual([0, 1, 1, 1, 1]);
  });

  it('repeats a single frame and cuts a long clip', () => {
    expect(mirrorIndexes(1, 4)).toEqual([0, 0, 0, 0]);
    expect(mirrorIndexes(9, 3)).toEqual([0, 1, 2]);
    expect(mirrorIndexes(9, 0)).toEqual([]);
  });

  it('refuses what has no frames', () => {
    expect(() => mirrorIndexes(0, 3)).toThrow('0 frames');
    expect(() => mirrorIndexes(2, 1.5)).toThrow('1.5 frames');
  });
});
