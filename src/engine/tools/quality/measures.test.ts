import { describe, expect, it } from 'vitest';
import { framePsnr, Tally } from './measures.js';

describe('framePsnr', () => {
  it('is of each frame alone, and infinite where a frame is identical', () => {
    const reference = Uint8Array.of(10, 20, 30, 40, 50, 60);
    // The second frame's squares come to 25 + 0 + 100 over three bytes.
    const [first, second] = framePsnr(Uint8Array.of(10, 20, 30, 45, 50, 50), reference, 3);
    expect(first).toBe(Number.POSITIVE_INFINITY);
    expect(second).toBeCloseTo(10 * Math.log10(65025 / (125 / 3)), 10);
  });

  it('refuses clips of different lengths', () => {
    expect(() => framePsnr(new Uint8Array(3), new Uint8Array(6), 3)).toThrow(
      '3 bytes cannot be compared with one of 6',
    );
  });
});

describe('Tally', () => {
  it('leaves identical frames out of mean and least', () => {
    const tally = new Tally();
    // 1 off and 10 off in frames of one byte: 48.13 and 28.13 dB.
    tally.frames(Uint8Array.of(7, 8, 17), Uint8Array.of(7, 7, 7), 1);
    const { mean, min, frames, identical } = tally.frameFigures ?? {};
    expect([frames, identical]).toEqual([3, 1]);
    expect(mean).toBeCloseTo(10 * Math.log10(65025) - 10, 10);
    expect(min).toBeCloseTo(10 * Math.log10(650.25), 10);
  });

  it('says of identical clips that no frame differs', () => {
    const tally = new Tally();
    tally.frames(Uint8Array.of(1, 2), Uint8Array.of(1, 2), 1);
    expect(tally.frameFigures).toEqual({ mean: null, min: null, frames: 2, identical: 2 });
  });

  it('gives mean and worst of latents', () => {
    const tally = new Tally();
    tally.latents(Float32Array.of(3, 4), Float32Array.of(3, 4));
    // (4, 3) . (3, 4) = 24 of 25; the difference is (1, -1).
    tally.latents(Float32Array.of(4, 3), Float32Array.of(3, 4));
    const { cosine, worstCosine, relativeL2, worstRelativeL2 } = tally.latentFigures ?? {};
    expect(cosine).toBeCloseTo(0.98, 12);
    expect(worstCosine).toBeCloseTo(0.96, 12);
    expect(relativeL2).toBeCloseTo(Math.SQRT2 / 10, 12);
    expect(worstRelativeL2).toBeCloseTo(Math.SQRT2 / 5, 12);
  });

  it('averages velocities over prompts, step by step, and leaves out steps without one', () => {
    const tally = new Tally();
    const [x, diagonal, y] = [Float32Array.of(1, 0), Float32Array.of(1, 1), Float32Array.of(0, 1)];
    tally.velocities([x, null, x], [x, x, diagonal]); // 1, none, 0.7071
    tally.velocities([x, null, y], [x, x, x]); // 1, none, 0
    const { steps, mean, worstStep, min } = tally.velocityFigures ?? {};
    expect(steps?.[0]).toBe(1);
    expect(steps?.[1]).toBeNull();
    expect(steps?.[2]).toBeCloseTo(Math.SQRT1_2 / 2, 12);
    expect(mean).toBeCloseTo((2 + Math.SQRT1_2) / 4, 12);
    expect(worstStep).toBeCloseTo(Math.SQRT1_2 / 2, 12);
    expect(min).toBe(0);
  });

  it('has no figures before anything was gathered', () => {
    const tally = new Tally();
    expect(tally.isEmpty).toBe(true);
    expect([tally.frameFigures, tally.latentFigures, tally.velocityFigures]).toEqual([null, null, null]);
  });
});
