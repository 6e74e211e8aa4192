// The measures themselves, on drawn scenes of which everything is known.
import { describe, expect, it } from 'vitest';
import { explained, overlap, psnr } from './measures/compare.js';
import { hearTicks } from './measures/hear.js';
import { meanColor, nearestColor, nearestShape } from './measures/look.js';
import { bouncesOf, directionOf, followColor, followObject, speedOf, turnAround } from './measures/motion.js';
import { findObject, maskObjects, measureMask, splitMask } from './measures/objects.js';
import { drawScene } from './scenes/draw.js';
import { Random } from './scenes/random.js';
import { type Color, colorNames, colors, directions, isHeldOut, shapes } from './scenes/scene.js';
import { soundOf } from './scenes/sound.js';
import { drawToyScene, type Motion, speeds, type ToyScene } from './scenes/toys.js';

function scenesOf(motion: Motion, count: number, seed = 1): ToyScene[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => drawToyScene(random, { motion }));
}

const firstToy = (scene: ToyScene) => scene.toys[0] as (typeof scene.toys)[number];

describe('measures', () => {
  it('know held-out combinations: 11 of 96, no pair of values without most of its thirds', () => {
    const all = colorNames.flatMap((color) =>
      shapes.flatMap((shape) => directions.map((way) => ({ color, shape, way }))),
    );
    const out = all.filter(({ color, shape, way }) => isHeldOut(color, shape, way));
    expect(out).toHaveLength(11);
    expect(new Set(out.map(({ color, shape }) => `${color} ${shape}`)).size).toBe(11);
    expect(new Set(out.map(({ color, way }) => `${color} ${way}`)).size).toBe(11);
  });

  it('name colour and shape of drawn objects', () => {
    for (const scene of scenesOf('straight', 48)) {
      const clip = drawScene(scene, 'rgb', 1);
      const object = findObject(clip, 0);
      if (object === null) throw new Error(`nothing found: ${JSON.stringify(scene.toys)} on ${scene.ground}`);
      expect([nearestColor(meanColor(clip, 0, object.mask)), nearestShape(object.mask)]).toEqual([
        firstToy(scene).color,
        firstToy(scene).shape,
      ]);
    }
  });

  it('find place, direction and speed within a tenth', () => {
    for (const scene of scenesOf('straight', 8, 2)) {
      const path = followObject(drawScene(scene));
      const { direction } = firstToy(scene);
      const side = direction === 'left' || direction === 'right' ? scene.width : scene.height;
      expect(directionOf(path)).toBe(direction);
      expect(Math.abs(speedOf(path) / (speeds[scene.speed] * side) - 1)).toBeLessThan(0.1);
      expect(path[5]?.x).toBeCloseTo(scene.primitives[0]?.x[5] ?? 0, -1);
    }
  });

  it('find the frames of bounces', () => {
    for (const scene of scenesOf('bounce', 6, 3)) {
      const found = bouncesOf(followObject(drawScene(scene)));
      const inner = scene.hits.filter((hit) => hit > 1 && hit < scene.frames - 2);
      for (const hit of inner) expect(Math.min(...found.map((frame) => Math.abs(frame - hit)))).toBeLessThanOrEqual(1);
      expect(found.length).toBeLessThanOrEqual(scene.hits.length);
    }
  });

  it('tell the sense of a circle', () => {
    for (const scene of scenesOf('orbit', 4, 4)) {
      const angle = turnAround(followObject(drawScene(scene)), scene.width / 2, scene.height / 2);
      expect(Math.sign(angle)).toBe(scene.spin === 'clockwise' ? 1 : -1);
      expect(Math.abs(angle)).toBeCloseTo((2 * Math.PI * 24) / (scene.speed === 'quickly' ? 24 : 48), 0);
    }
  });

  it('tell two objects apart, and follow one by its colour', () => {
    for (const scene of scenesOf('pair', 6, 5)) {
      const clip = drawScene(scene);
      const parts = splitMask(maskObjects(clip, 0));
      expect(parts).toHaveLength(2);
      expect(new Set(parts.map((mask) => nearestColor(meanColor(clip, 0, mask))))).toEqual(
        new Set(scene.toys.map(({ color }) => color)),
      );
      for (const { color, direction } of scene.toys)
        expect(directionOf(followColor(clip, colors[color]))).toBe(direction);
    }
  });

  it('hear ticks within a frame, and their pitch', () => {
    let heard = 0;
    for (const scene of [...scenesOf('bounce', 8, 6), ...scenesOf('walls', 8, 7)]) {
      const ticks = hearTicks(soundOf(scene));
      const inner = scene.ticks.filter(({ second }) => second < 0.95);
      for (const { second } of inner) {
        const nearest = [...ticks].sort((a, b) => Math.abs(a.second - second) - Math.abs(b.second - second))[0];
        expect(Math.abs((nearest?.second ?? 9) - second)).toBeLessThan(1 / 24);
        expect(nearest?.color).toBe(firstToy(scene).color satisfies Color);
        heard++;
      }
      expect(ticks.length).toBeLessThanOrEqual(scene.ticks.length);
    }
    expect(heard).toBeGreaterThan(8);
  });

  it('compare: masks of a picture with those of its controls, noise, explained variance', () => {
    const [scene] = scenesOf('straight', 1, 8) as [ToyScene];
    const masks = (view: 'rgb' | 'seg') => [maskObjects(drawScene(scene, view, 1), 0)];
    expect(overlap(masks('rgb'), masks('seg'))).toBeGreaterThan(0.93);
    const clip = drawScene(scene, 'rgb', 1);
    const noisy = { ...clip, data: clip.data.map((v, i) => (v > 250 ? v : v + (i % 2 === 0 ? 2 : 0))) };
    expect(psnr(clip, 0, noisy, 0)).toBeCloseTo(10 * Math.log10(255 ** 2 / 2), 1);
    expect(explained([1, 2, 3.5], [1, 2, 3])).toBeCloseTo(1 - 0.25 / 2);
    expect(explained([1, 1], [1, 1])).toBeNull();
    expect(measureMask({ width: 2, height: 2, on: Uint8Array.of(0, 1, 0, 1) })).toEqual({ x: 1, y: 0.5, area: 2 });
  });
});
