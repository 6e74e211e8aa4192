import { describe, expect, it } from 'vitest';
import {
  checkQuantization,
  linearFormats,
  planWideSteps,
  type Quantization,
  QuantizationError,
} from './quantization.js';

const network = { layers: 4 };
const fp8: Quantization = { format: 'fp8' };
const check = (options: Partial<Quantization>) => () => checkQuantization({ ...fp8, ...options }, network);

describe('checkQuantization', () => {
  it('takes what leaves something to quantise', () => {
    expect(check({})).not.toThrow();
    expect(
      check({ excludeLayers: [0, 3, 3], excludeProjections: ['qkv', 'out', 'down'], excludeTowers: ['und'] }),
    ).not.toThrow();
  });

  it.each<[Partial<Quantization>, string]>([
    [{ excludeLayers: [4] }, 'excludeLayers: 4; this network has layers 0 to 3'],
    [{ excludeLayers: [-1] }, 'excludeLayers: -1; this network has layers 0 to 3'],
    [{ wideFirstSteps: 1.5 }, 'wideFirstSteps: 1.5; steps are counted from 0'],
    [{ wideLastSteps: -2 }, 'wideLastSteps: -2; steps are counted from 0'],
    [{ excludeLayers: [3, 2, 1, 0] }, 'quantization: fp8 with every layer excluded quantises nothing'],
    [{ excludeProjections: ['qkv', 'out', 'gate_up', 'down'] }, 'fp8 with every projection excluded quantises nothing'],
    [{ excludeTowers: ['gen', 'und'] }, 'fp8 with both towers excluded quantises nothing'],
  ])('refuses %j', (options, message) => {
    expect(check(options)).toThrow(QuantizationError);
    expect(check(options)).toThrow(message);
  });

  it('names projections that are none', () => {
    const given: { excludeProjections: string[] } = { excludeProjections: ['q_proj'] };
    const options = JSON.parse(JSON.stringify(given)) as Partial<Quantization>;
    expect(check(options)).toThrow('excludeProjections: q_proj; projections are qkv, out, gate_up, down');
  });
});

describe('linearFormats', () => {
  const formats = (q: Quantization | null, tower: 'und' | 'gen', layer: number) =>
    Object.entries(linearFormats(q, tower, layer))
      .filter(([, { format }]) => format === 'fp8')
      .map(([name, { keepWide }]) => `${name}${keepWide ? ' kept' : ''}`);

  it('leaves out excluded towers, layers and projections', () => {
    const q: Quantization = { ...fp8, excludeTowers: ['und'], excludeLayers: [1], excludeProjections: ['qkv'] };
    expect(formats(q, 'gen', 0)).toEqual(['out', 'gate_up', 'down']);
    expect(formats(q, 'gen', 1)).toEqual([]);
    expect(formats(q, 'und', 0)).toEqual([]);
    expect(formats(fp8, 'und', 1)).toEqual(['qkv', 'out', 'gate_up', 'down']);
    expect(formats(null, 'gen', 0)).toEqual([]);
  });

  it('keeps wide weights only where steps will use them', () => {
    expect(formats({ ...fp8, keepWide: true, wideLastSteps: 1 }, 'gen', 0)[0]).toBe('qkv kept');
    expect(formats({ ...fp8, keepWide: true, wideLastSteps: 1 }, 'und', 0)[0]).toBe('qkv');
    expect(formats({ ...fp8, keepWide: true }, 'gen', 0)[0]).toBe('qkv');
  });
});

describe('planWideSteps', () => {
  it('marks the first and the last steps', () => {
    const plan = planWideSteps({ ...fp8, wideFirstSteps: 2, wideLastSteps: 1 }, 5);
    expect(plan).toEqual([true, true, false, false, true]);
    expect(planWideSteps(fp8, 2)).toEqual([false, false]);
    expect(planWideSteps(null, 2)).toEqual([false, false]);
  });

  it('refuses a run of which nothing is quantised', () => {
    expect(() => planWideSteps({ ...fp8, wideFirstSteps: 3, wideLastSteps: 3 }, 6)).toThrow(
      'fp8 with 3 first and 3 last steps wide quantises none of 6 steps',
    );
  });
});
