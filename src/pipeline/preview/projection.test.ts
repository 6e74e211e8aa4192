import { describe, expect, it } from 'vitest';
import { fitProjection, project } from './projection.js';

describe('the projection of latents to colours', () => {
  it('finds a linear map again', () => {
    const truth = [
      [10, -4, 100],
      [0, 6, 50],
      [-3, 2, 200],
    ];
    const latents = Float32Array.from({ length: 2 * 40 }, (_, i) => Math.sin(1.7 * i * i + i));
    const colours = Array.from({ length: 40 }, (_, n) =>
      truth.map(([a = 0, b = 0, c = 0]) => a * (latents[2 * n] ?? 0) + b * (latents[2 * n + 1] ?? 0) + c),
    ).flat();
    const projection = fitProjection(latents, colours, 2);
    expect([...projection.weights].map((weight) => Math.round(weight * 10) / 10 + 0)).toEqual(truth.flat());
    expect(project(projection, latents.subarray(0, 2))).toEqual(Uint8Array.from(colours.slice(0, 3), Math.round));
  });

  it('gives the mean colour where latents say nothing, and bytes whatever comes', () => {
    const projection = fitProjection(new Float32Array(3), [10, 20, 30, 20, 30, 40, 30, 40, 50], 1);
    expect(project(projection, Float32Array.of(0))).toEqual(Uint8Array.of(20, 30, 40));
    const steep = fitProjection(Float32Array.of(-1, 1), [0, 0, 0, 255, 255, 255], 1);
    expect(project(steep, Float32Array.of(-9, 9))).toEqual(Uint8Array.of(0, 0, 0, 255, 255, 255));
  });

  it('refuses samples that do not belong together', () => {
    expect(() => fitProjection(new Float32Array(4), [1, 2, 3], 2)).toThrow('4 latents of 2 channels do not fit 3');
  });
});
