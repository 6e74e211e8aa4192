import { describe, expect, it } from 'vitest';
import { toFloat32 } from '../floats.js';
import { randomValues, seedOf } from './random-values.js';
import { isRandomWeight, randomBytes, randomWeight } from './random-weight.js';
import { openSyntheticCheckpoint } from './synthetic-checkpoint.js';

const checkpoint = () =>
  openSyntheticCheckpoint({ name: 'tiny', configs: { transformer: { layers: 2 } }, folders: { text_tokenizer: '/t' } });

describe('random values', () => {
  it('depend on seed and place alone, and are nearly normal', () => {
    const values = randomValues(20_000, seedOf('a'), 1 / 147.8);
    expect(values.subarray(0, 100)).toEqual(randomValues(100, seedOf('a'), 1 / 147.8));
    expect(values.subarray(0, 4)).not.toEqual(randomValues(4, seedOf('b'), 1 / 147.8));
    const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
    const deviation = Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / values.length);
    expect(Math.abs(mean)).toBeLessThan(0.02);
    expect(deviation).toBeGreaterThan(0.98);
    expect(deviation).toBeLessThan(1.02);
    expect(Math.max(...values)).toBeGreaterThan(2.5);
  });

  it('are these, which kernels of a GPU make too', () => {
    expect([...randomValues(3, 123, 1)]).toEqual([175, -68, -42]);
  });
});

describe('a described weight', () => {
  it('keeps the size of what it multiplies, and makes its bytes only where they are asked for', () => {
    const weight = randomWeight('x', [8, 400]);
    expect(weight.bytes).toHaveLength(8 * 400 * 2);
    const values = toFloat32(weight);
    const power = values.reduce((sum, x) => sum + x * x, 0) / 8;
    expect(power).toBeGreaterThan(0.9);
    expect(power).toBeLessThan(1.1);
    const moved = { ...weight, shape: [400, 8] };
    expect(Object.keys(moved)).not.toContain('bytes');
    expect(isRandomWeight(moved)).toBe(true);
    expect(randomBytes(moved)).toEqual(weight.bytes);
    expect(isRandomWeight({ shape: [1], dtype: 'f32', bytes: new Uint8Array(4) })).toBe(false);
  });
});

describe('a synthetic checkpoint', () => {
  it('has its parts, and every weight that is asked for', () => {
    const reader = checkpoint().part('transformer').weights().scope('layers.0');
    const matrix = reader.read('to_q.weight', [4, 6]);
    expect(isRandomWeight(matrix)).toBe(true);
    expect(matrix.name).toBe('transformer.layers.0.to_q.weight');
    expect([...toFloat32(reader.read('input_layernorm.weight', [3]))]).toEqual([1, 1, 1]);
    expect([...toFloat32(reader.read('norm1.gamma', [2, 1, 1, 1]))]).toEqual([1, 1]);
    expect([...toFloat32(reader.read('proj_in.bias', [2]))]).toEqual([0, 0]);
    expect(checkpoint().part('transformer').config).toEqual({ layers: 2 });
    expect(checkpoint().part('text_tokenizer').path).toBe('/t');
    expect(checkpoint().partNames).toEqual(['transformer', 'text_tokenizer']);
    expect(checkpoint().has('vae')).toBe(false);
  });

  it('says that it has no other parts and no files', () => {
    expect(() => checkpoint().part('vae')).toThrow('part vae is not in it');
    expect(() => checkpoint().part('transformer').table()).toThrow('random weights are in no file');
    expect(() => checkpoint().part('transformer').file('a.json')).toThrow('no file a.json');
  });
});
