import { describe, expect, it } from 'vitest';
import { barsOf, referenceBar } from './bars.js';
import { Tally } from './measures.js';
import { type Variant, variants } from './variants.js';

function variant(name: string): Variant {
  const found = variants.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no variant ${name}`);
  return found;
}

/** A clip whose byte is `off` from the reference's, and a latent at a relative distance of `away` from it, at right angles. */
function tallied(off: number, away: number): Tally {
  const tally = new Tally();
  tally.frames(Uint8Array.of(100 + off), Uint8Array.of(100), 1);
  tally.latents(Float32Array.of(1, away), Float32Array.of(1, 0));
  tally.velocities([Float32Array.of(1, away)], [Float32Array.of(1, 0)]);
  return tally;
}

const verdicts = (name: string, others: Readonly<Record<string, Tally>>) =>
  barsOf(variant(name), new Map(Object.entries(others))).map(({ passed }) => passed);

describe('barsOf', () => {
  it('holds bf16 and fp8 to their own limits', () => {
    // 2 off of 255 are 42.1 dB, 4 are 36.1, 6 are 32.6; the cosine of a distance r is 1 / sqrt(1 + r²): 0.9992, 0.9950, 0.9806.
    expect(verdicts('bf16', { bf16: tallied(2, 0.04) })).toEqual([true, true, true]);
    expect(verdicts('bf16', { bf16: tallied(4, 0.1) })).toEqual([false, false, false]);
    expect(verdicts('fp8', { fp8: tallied(4, 0.1) })).toEqual([true, true, true]);
    expect(verdicts('fp8', { fp8: tallied(6, 0.2) })).toEqual([false, false, false]);
  });

  it('states value and limit', () => {
    const [psnr] = barsOf(variant('bf16'), new Map([['bf16', tallied(2, 0)]]));
    expect(psnr).toMatchObject({ variant: 'bf16', measure: 'frame PSNR, dB', sense: '>=', limit: 41.4, passed: true });
    expect(psnr?.value).toBeCloseTo(10 * Math.log10(65025 / 4), 10);
  });

  it('holds skipped steps to 0.981 and 19.4 %, and extrapolation to the held ones', () => {
    const hold = 'fp8-skip-3-5-7-hold';
    const extrapolate = 'fp8-skip-3-5-7-extrapolate';
    expect(verdicts(hold, { [hold]: tallied(1, 0.19) })).toEqual([true, true]);
    expect(verdicts(hold, { [hold]: tallied(1, 0.2) })).toEqual([false, false]);
    expect(verdicts(extrapolate, { [hold]: tallied(1, 0.19), [extrapolate]: tallied(1, 0.1) })).toEqual([true, true]);
    expect(verdicts(extrapolate, { [hold]: tallied(1, 0.1), [extrapolate]: tallied(1, 0.1) })).toEqual([false, false]);
    expect(verdicts(extrapolate, { [extrapolate]: tallied(1, 0.1) })).toEqual([]);
  });

  it('holds float32 to itself, bit by bit', () => {
    expect(verdicts('f32', { f32: tallied(0, 0) })).toEqual([true]);
    expect(verdicts('f32', { f32: tallied(0, 1e-7) })).toEqual([false]);
  });

  it('only reports what has no limit', () => {
    for (const name of ['bf16-skip-2-4-6-8-hold', 'bf16-decode', 'fp8-wide'])
      expect(verdicts(name, { [name]: tallied(9, 9) })).toEqual([]);
  });

  it('misses where a value is no number', () => {
    expect(verdicts('bf16', { bf16: tallied(1, Number.NaN) })).toEqual([true, false, false]);
    expect(referenceBar(Number.NaN).passed).toBe(false);
    expect(referenceBar(2e-5).passed).toBe(true);
  });
});
