// The sound of clips: ticks where something bounces.
import { hearTicks } from '../measures/hear.js';
import { bouncesOf, followObject, turnsOf } from '../measures/motion.js';
import { describeClip } from '../scenes/captions.js';
import { framesPerSecond } from '../scenes/scene.js';
import { drawToyScene } from '../scenes/toys.js';
import { type Check, isHeldOutCase, overCases } from './bench.js';
import { shareOf } from './figures.js';

export const sound: Check = async (bench) => {
  const task = 'sound';
  const found = await overCases(bench, task, 50, async (random, seed) => {
    const motion = seed % 2 === 0 ? 'bounce' : 'walls';
    const scene = drawToyScene(random, { motion, heldOut: isHeldOutCase(seed) });
    const { clip, sound } = await bench.studio.clipWithSound({ prompt: describeClip(random, scene), seed });
    const path = followObject(clip);
    const seen = motion === 'bounce' ? bouncesOf(path) : turnsOf(path.map((blob) => blob?.x ?? Number.NaN));
    const heard = hearTicks(sound);
    return {
      near: seen.map((frame) => heard.some(({ second }) => Math.abs(second * framesPerSecond - frame) <= 2)),
      pitch: heard.map(({ color }) => color === scene.toys[0]?.color),
    };
  });
  return [
    shareOf(
      { task, measure: 'tick within 2 frames of a bounce seen', bar: 90 },
      found.flatMap(({ near }) => near),
    ),
    shareOf(
      { task, measure: 'pitch of ticks heard', bar: 90 },
      found.flatMap(({ pitch }) => pitch),
    ),
  ];
};
