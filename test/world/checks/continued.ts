// Clips from a picture, and clips that continue a clip.
import { psnr } from '../measures/compare.js';
import { directionOf, followObject, turnsAcross } from '../measures/motion.js';
import { describeClip } from '../scenes/captions.js';
import { drawScene } from '../scenes/draw.js';
import { drawToyScene, type Toy } from '../scenes/toys.js';
import { type Check, isHeldOutCase, overCases } from './bench.js';
import { meanOf, shareOf } from './figures.js';
import { lookAt } from './judge.js';

export const imageToVideo: Check = async (bench) => {
  const task = 'image-to-video';
  const found = await overCases(bench, task, 50, async (random, seed) => {
    const { frames } = bench;
    const scene = drawToyScene(random, { motion: 'straight', heldOut: isHeldOutCase(seed), ...(frames && { frames }) });
    const image = drawScene(scene, 'rgb', 1);
    const prompt = describeClip(random, scene);
    const clip = await bench.studio.clip({ prompt, image, ...(frames && { frames }), seed });
    const [toy] = scene.toys as readonly [Toy];
    const looks = Array.from({ length: clip.frames }, (_, frame) => lookAt(clip, frame));
    return {
      first: psnr(clip, 0, image, 0),
      color: looks.every((look) => look?.color === toy.color),
      identity: looks.every((look) => look?.color === toy.color && look.shape === toy.shape),
      direction: directionOf(followObject(clip)) === toy.direction,
    };
  });
  return [
    meanOf(
      { task, measure: 'frame 0', unit: 'dB', bar: 30 },
      found.map(({ first }) => first),
    ),
    shareOf(
      { task, measure: 'colour and shape kept in all frames', bar: 95 },
      found.map(({ identity }) => identity),
    ),
    shareOf(
      { task, measure: 'colour kept in all frames' },
      found.map(({ color }) => color),
    ),
    shareOf(
      { task, measure: 'direction', bar: 95 },
      found.map(({ direction }) => direction),
    ),
  ];
};

/** Frames of the given clip: two latent frames. */
const given = 5;

export const videoToVideo: Check = async (bench) => {
  const task = 'video-to-video';
  const straight = await overCases(bench, task, 30, async (random, seed) => {
    const scene = drawToyScene(random, { motion: 'straight', heldOut: isHeldOutCase(seed) });
    const clip = await bench.studio.clip({
      prompt: describeClip(random, scene),
      video: drawScene(scene, 'rgb', given),
      seed,
    });
    const path = followObject(clip);
    const [item] = scene.primitives;
    const wanted = (axis: 'x' | 'y') => (item?.[axis].at(-1) as number) - (item?.[axis][given - 1] as number);
    const [from, to] = [path[given - 1], path.at(-1)];
    if (!from || !to) return 100;
    const gap = Math.hypot(to.x - from.x - wanted('x'), to.y - from.y - wanted('y'));
    return (100 * gap) / Math.hypot(wanted('x'), wanted('y'));
  });
  const walls = await overCases(bench, `${task} walls`, 30, async (random, seed) => {
    let scene = drawToyScene(random, { motion: 'walls' });
    const inner = () => scene.hits.filter((hit) => hit > given + 1 && hit < scene.frames - 4);
    while (inner().length !== 1) scene = drawToyScene(random, { motion: 'walls' });
    const clip = await bench.studio.clip({
      prompt: describeClip(random, scene),
      video: drawScene(scene, 'rgb', given),
      seed,
    });
    const turns = turnsAcross(followObject(clip));
    return turns.some(({ frame }) => Math.abs(frame - (inner()[0] as number)) <= 3);
  });
  return [
    meanOf({ task, measure: 'velocity error', bar: 15, atMost: true }, straight),
    shareOf({ task, measure: 'bounces at the wall within 3 frames', bar: 90 }, walls),
  ];
};
