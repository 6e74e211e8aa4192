// The measures themselves, on drawn scenes of which everything is known.
import { describe, expect, it } from 'vitest';
import type { RgbClip } from '../../src/media/index.js';
import { looksRight, movesRight } from './checks/judge.js';
import { explained, overlap, psnr } from './measures/compare.js';
import { hearTicks } from './measures/hear.js';
import { meanColor, nearestColor, nearestShape } from './measures/look.js';
import {
  bouncesOf,
  directionOf,
  followColor,
  followObject,
  goesUpAndDown,
  runsBetweenWalls,
  speedOf,
  turnAround,
  turnsAcross,
  turnsOf,
} from './measures/motion.js';
import { findObject, maskColor, maskObjects, measureMask, splitMask } from './measures/objects.js';
import { drawScene } from './scenes/draw.js';
import { Random } from './scenes/random.js';
import { type Color, colorNames, colors, directions, isHeldOut, shapes } from './scenes/scene.js';
import { soundOf } from './scenes/sound.js';
import { drawToyScene, type Motion, motions, speeds, type ToyScene } from './scenes/toys.js';

function scenesOf(motion: Motion, count: number, seed = 1): ToyScene[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => drawToyScene(random, { motion }));
}

/** A clip out of focus, as an autoencoder softens: means over 7 pixels along both axes. */
function soften({ width, height, frames, fps, data }: RgbClip): RgbClip {
  const mean = (from: Uint8Array, lines: number, count: number, inner: number) => {
    const to = new Uint8Array(from.length);
    for (let line = 0; line < lines; line++) {
      for (let j = 0; j < inner; j++) {
        const at = (i: number) => from[(line * count + Math.min(Math.max(i, 0), count - 1)) * inner + j] as number;
        let sum = 0;
        for (let i = -4; i < 3; i++) sum += at(i);
        for (let i = 0; i < count; i++) {
          sum += at(i + 3) - at(i - 4);
          to[(line * count + i) * inner + j] = Math.round(sum / 7);
        }
      }
    }
    return to;
  };
  const across = mean(data, frames * height, width, 3);
  return { width, height, frames, fps, data: mean(across, frames, height, width * 3) };
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

  it('find the frames of walls', () => {
    for (const scene of scenesOf('walls', 6, 9)) {
      const turns = turnsAcross(followObject(drawScene(scene)));
      const inner = scene.hits.filter((hit) => hit > 2 && hit < scene.frames - 3);
      for (const hit of inner)
        expect(Math.min(...turns.map(({ frame }) => Math.abs(frame - hit)))).toBeLessThanOrEqual(1);
      expect(turns.length).toBeLessThanOrEqual(scene.hits.length);
    }
  });

  it('call a coordinate turned only when it comes and goes', () => {
    expect(turnsOf([0, 4, 8, 8.5, 4, 0])).toEqual([{ frame: 3, isGreatest: true }]);
    expect(turnsOf([9, 5, 1, Number.NaN, 1, 5, 9, 4])).toEqual([
      { frame: 2, isGreatest: false },
      { frame: 6, isGreatest: true },
    ]);
    expect(turnsOf([0, 1, 0, 1, 0, 1])).toEqual([]);
    expect(turnsOf([0, 4, 8, 12, 12, 11])).toEqual([]);
  });

  it('tell a run between walls from one that stops, and a bounce from a fall', () => {
    const along = (x: (frame: number) => number, y: (frame: number) => number) =>
      Array.from({ length: 25 }, (_, frame) => ({ x: x(frame), y: y(frame), area: 900 }));
    const level = () => 90;
    expect(
      runsBetweenWalls(
        along((frame) => 40 + 5 * frame, level),
        2.2,
      ),
    ).toBe(true);
    expect(
      runsBetweenWalls(
        along((frame) => 40 + 8 * Math.min(frame, 15), level),
        2.2,
      ),
    ).toBe(false);
    expect(
      runsBetweenWalls(
        along((frame) => 40 + frame, level),
        2.2,
      ),
    ).toBe(false);
    expect(
      runsBetweenWalls(
        along(level, (frame) => 40 + 5 * frame),
        2.2,
      ),
    ).toBe(false);
    const fall = (frame: number) => 30 + 0.4 * frame ** 2;
    expect(goesUpAndDown(along(level, fall), 192)).toBe(false);
    expect(
      goesUpAndDown(
        along(level, (frame) => fall(Math.abs(frame - 12))),
        192,
      ),
    ).toBe(true);
    expect(
      goesUpAndDown(
        along(
          (frame) => 10 * frame,
          (frame) => fall(Math.abs(frame - 12)),
        ),
        192,
      ),
    ).toBe(false);
  });

  it.each(motions)('find drawn clips right, sharp and out of focus: %s', (motion) => {
    for (const [i, scene] of scenesOf(motion, 2, 20).entries()) {
      const drawn = drawScene(scene);
      const clip = i === 0 ? drawn : soften(drawn);
      const what = JSON.stringify([scene.toys, scene.ground, scene.speed, scene.hits]);
      expect([movesRight(clip, scene), looksRight(clip, scene)], what).toEqual([true, true]);
    }
  });

  it('name shapes out of focus: a hole of a ring stays', () => {
    for (const scene of scenesOf('straight', 24, 10)) {
      const clip = soften(drawScene(scene, 'rgb', 1));
      const mask = findObject(clip, 0)?.mask;
      if (mask === undefined) throw new Error('nothing found');
      expect(nearestShape(mask), `${JSON.stringify(scene.toys)} on ${scene.ground}`).toBe(firstToy(scene).shape);
      const truth = maskObjects(drawScene(scene, 'depth', 1), 0);
      expect(overlap([mask], [truth])).toBeGreaterThan(0.85);
    }
  });

  it('do not take the ground for a colour', () => {
    const scene = { ...drawToyScene(new Random(3), { motion: 'straight' }), ground: 'grey' as const, primitives: [] };
    expect(measureMask(maskColor(drawScene(scene, 'rgb', 1), 0, colors.purple)).area).toBe(0);
  });

  it('tell the sense of a circle', () => {
    for (const scene of scenesOf('orbit', 4, 4)) {
      const angle = turnAround(followObject(drawScene(scene)), scene.width / 2, scene.height / 2);
      expect(Math.sign(angle)).toBe(scene.spin === 'clockwise' ? 1 : -1);
      expect(Math.abs(angle)).toBeCloseTo((2 * Math.PI * 24) / (scene.speed === 'quickly' ? 32 : 64), 0);
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
