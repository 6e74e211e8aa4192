// The sound of clips: ticks where something bounces.
import type { RgbClip, Waveform } from '../../../src/media/index.js';
import { hearTicks } from '../measures/hear.js';
import { bouncesOf, followObject, turnsAcross } from '../measures/motion.js';
import { describeClip } from '../scenes/captions.js';
import { framesPerSecond } from '../scenes/scene.js';
import { drawToyScene, type ToyScene } from '../scenes/toys.js';
import { type Bench, type Check, isHeldOutCase, overCases } from './bench.js';
import { shareOf } from './figures.js';

const task = 'sound';

interface Sounding {
  readonly scene: ToyScene;
  readonly clip: RgbClip;
  readonly sound: Waveform;
}

/** Gives `measure` clips with sound in which something bounces, on the floor and between walls in turn; made once in a run. */
export function overSoundingClips<T>(bench: Bench, measure: (made: Sounding) => T): Promise<T[]> {
  return overCases(bench, task, 50, async (random, seed) => {
    const motion = seed % 2 === 0 ? 'bounce' : 'walls';
    const scene = drawToyScene(random, { motion, heldOut: isHeldOutCase(seed) });
    return measure({ scene, ...(await bench.studio.clipWithSound({ prompt: describeClip(random, scene), seed })) });
  });
}

export const sound: Check = async (bench) => {
  const found = await overSoundingClips(bench, ({ scene, clip, sound }) => {
    const path = followObject(clip);
    const seen = scene.motion === 'bounce' ? bouncesOf(path) : turnsAcross(path).map(({ frame }) => frame);
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
