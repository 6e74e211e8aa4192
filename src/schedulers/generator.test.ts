import { describe, expect, it } from 'vitest';
import { caseInfo, caseNames, readCase } from '../../test/golden/read-case.js';
import { NoiseGenerator } from './generator.js';
import { MersenneTwister } from './mersenne-twister.js';

const seeded = caseNames().filter((name) => caseInfo(name).seed !== undefined);
const drawOrder = ['noise/vision', 'noise/sound', 'noise/action'];

describe('MersenneTwister', () => {
  it('gives the numbers of the reference program for seed 5489', () => {
    const twister = new MersenneTwister(5489);
    const first = Array.from({ length: 5 }, () => twister.next());
    expect(first).toEqual([3499211612, 581869302, 3890346734, 3586334585, 545404204]);
    // The 10 000th number, which the C++ standard names.
    for (let i = 5; i < 9999; i++) twister.next();
    expect(twister.next()).toBe(4123659995);
  });
});

describe('NoiseGenerator', () => {
  it('has at least 11 seeded golden cases, with sound and action among them', () => {
    expect(seeded.length).toBeGreaterThanOrEqual(11);
    for (const key of drawOrder) expect(seeded.some((name) => readCase(name).has(key))).toBe(true);
  });

  it.each(seeded)('draws the noise of the case %s bit for bit', (name) => {
    const file = readCase(name);
    const generator = new NoiseGenerator(caseInfo(name).seed ?? Number.NaN);
    const keys = drawOrder.filter((key) => file.has(key));
    expect(keys.length).toBe(file.keys('noise/').length);
    for (const key of keys) {
      const wanted = file.floats(key);
      const found = generator.normal(wanted.length);
      expect(found).toEqual(wanted);
    }
  });

  it('draws fewer than 16 numbers as PyTorch prints them', () => {
    const printed = (values: Float32Array) => Array.from(values, (value) => value.toFixed(4));
    expect(printed(new NoiseGenerator(0).normal(6))).toEqual([
      '1.5410',
      '-0.2934',
      '-2.1788',
      '0.5684',
      '-1.0845',
      '-1.3986',
    ]);
    expect(printed(new NoiseGenerator(42).normal(5))).toEqual(['0.3367', '0.1288', '0.2345', '0.2303', '-1.1229']);
  });

  it('draws 16 and more numbers as PyTorch prints them', () => {
    const first = new NoiseGenerator(0).normal(16);
    expect(Array.from(first.subarray(0, 6), (value) => value.toFixed(4))).toEqual([
      '-1.1258',
      '-1.1524',
      '-0.2506',
      '-0.4339',
      '0.8487',
      '0.6920',
    ]);
    const answer = new NoiseGenerator(42).normal(100);
    expect(Array.from(answer.subarray(0, 4), (value) => value.toFixed(4))).toEqual([
      '1.9269',
      '1.4873',
      '0.9007',
      '-2.1055',
    ]);
  });

  it('draws the last 16 anew when the count is no multiple of 16', () => {
    const whole = new NoiseGenerator(7).normal(32);
    const ragged = new NoiseGenerator(7).normal(35);
    expect(ragged.subarray(0, 16)).toEqual(whole.subarray(0, 16));
    expect(ragged.subarray(16, 19)).toEqual(whole.subarray(16, 19));
    const after = new NoiseGenerator(7);
    after.normal(32);
    // 35 uniforms were used up before the anew drawn 16: three more than the 32 here, taken off one word at a time.
    const twister = new MersenneTwister(7);
    for (let i = 0; i < 35; i++) twister.next();
    const radiusFrom = (twister.next() & 0xffffff) * 2 ** -24;
    for (let i = 0; i < 7; i++) twister.next();
    const angleFrom = (twister.next() & 0xffffff) * 2 ** -24;
    const wanted = Math.sqrt(-2 * Math.log(1 - radiusFrom)) * Math.cos(2 * Math.PI * angleFrom);
    expect(Math.abs((ragged[19] as number) - wanted)).toBeLessThan(2e-6);
  });

  it('continues one stream over draws, with the spare half of an odd small draw', () => {
    const six = new NoiseGenerator(3).normal(6);
    const parts = new NoiseGenerator(3);
    expect([...parts.normal(1), ...parts.normal(3), ...parts.normal(2)]).toEqual([...six]);
    const blocks = new NoiseGenerator(3);
    expect([...blocks.normal(16), ...blocks.normal(32)]).toEqual([...new NoiseGenerator(3).normal(48)]);
  });

  it('counts the low 32 bits of a seed, as PyTorch does', () => {
    const draw = (seed: number | bigint) => [...new NoiseGenerator(seed).normal(20)];
    expect(draw(2n ** 32n + 5n)).toEqual(draw(5));
    expect(draw(2 ** 40 + 9)).toEqual(draw(9));
    expect(draw(-1)).toEqual(draw(2n ** 64n - 1n));
    expect(draw(-1)).toEqual(draw(0xffffffff));
  });

  it('has mean 0 and variance 1, all values finite', () => {
    const values = new NoiseGenerator(1).normal(1_000_000);
    let [sum, squares] = [0, 0];
    for (const value of values) {
      sum += value;
      squares += value * value;
    }
    expect(Math.abs(sum / values.length)).toBeLessThan(5e-3);
    expect(Math.abs(squares / values.length - 1)).toBeLessThan(1e-2);
  });

  it('draws 2 million numbers in less than 300 ms', () => {
    const generator = new NoiseGenerator(1);
    generator.normal(200_000);
    // Processor time, which other processes on the machine do not stretch.
    const times = Array.from({ length: 3 }, () => {
      const begin = process.cpuUsage();
      generator.normal(2_000_000);
      return process.cpuUsage(begin).user / 1000;
    });
    expect(Math.min(...times)).toBeLessThan(300);
  });

  it('refuses seeds and counts it cannot honour, naming them', () => {
    expect(() => new NoiseGenerator(1.5)).toThrow('the seed is 1.5');
    expect(() => new NoiseGenerator(2n ** 64n)).toThrow('the seed is 18446744073709551616');
    expect(() => new NoiseGenerator(Number.NaN)).toThrow('the seed is NaN');
    expect(() => new NoiseGenerator(1).normal(-1)).toThrow('-1 random numbers');
    expect([...new NoiseGenerator(1).normal(0)]).toEqual([]);
  });
});
