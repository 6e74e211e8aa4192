// Clips and pictures from words alone.
import { directionOf, followObject, speedOf } from '../measures/motion.js';
import { describeClip, describePicture } from '../scenes/captions.js';
import { drawToyScene, speeds, type Toy } from '../scenes/toys.js';
import { type Check, isHeldOutCase, overCases } from './bench.js';
import { meanOf, shareOf } from './figures.js';
import { lookAt } from './judge.js';

export const textToVideo: Check = async (bench) => {
  const task = 'text-to-video';
  const found = await overCases(bench, task, 200, async (random, seed) => {
    const { frames } = bench;
    const scene = drawToyScene(random, { motion: 'straight', heldOut: isHeldOutCase(seed), ...(frames && { frames }) });
    const clip = await bench.studio.clip({ prompt: describeClip(random, scene), ...(frames && { frames }), seed });
    const [toy] = scene.toys as readonly [Toy];
    const path = followObject(clip);
    const look = lookAt(clip, Math.floor(clip.frames / 2));
    const side = toy.direction === 'left' || toy.direction === 'right' ? scene.width : scene.height;
    return {
      color: look?.color === toy.color,
      shape: look?.shape === toy.shape,
      direction: directionOf(path) === toy.direction,
      speed: 100 * Math.abs(speedOf(path) / (speeds[scene.speed] * side) - 1),
    };
  });
  const split = (heldOut: boolean) => found.filter((_, index) => isHeldOutCase(index) === heldOut);
  return [
    shareOf(
      { task, measure: 'colour', bar: 97 },
      found.map(({ color }) => color),
    ),
    shareOf(
      { task, measure: 'shape', bar: 92 },
      found.map(({ shape }) => shape),
    ),
    shareOf(
      { task, measure: 'direction', bar: 97 },
      found.map(({ direction }) => direction),
    ),
    meanOf(
      { task, measure: 'speed error', bar: 15, atMost: true },
      found.map(({ speed }) => speed),
    ),
    ...[false, true].map((heldOut) => {
      const name = heldOut ? 'combinations kept from training' : 'trained combinations';
      return shareOf(
        { task, measure: `all right, ${name}` },
        split(heldOut).map(({ color, shape, direction }) => color && shape && direction),
      );
    }),
  ];
};

export const textToImage: Check = async (bench) => {
  const task = 'text-to-image';
  const found = await overCases(bench, task, 200, async (random, seed) => {
    const scene = drawToyScene(random, { motion: 'straight', heldOut: isHeldOutCase(seed), frames: 1 });
    const look = lookAt(await bench.studio.picture({ task, prompt: describePicture(random, scene), seed }), 0);
    return { color: look?.color === scene.toys[0]?.color, shape: look?.shape === scene.toys[0]?.shape };
  });
  return [
    shareOf(
      { task, measure: 'colour', bar: 95 },
      found.map(({ color }) => color),
    ),
    shareOf(
      { task, measure: 'shape', bar: 95 },
      found.map(({ shape }) => shape),
    ),
  ];
};
