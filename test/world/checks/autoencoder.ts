// What the video autoencoder keeps of clips it never saw: the engine continues a clip of which all but the last latent frame is given.

import type { RgbClip } from '../../../src/media/index.js';
import { psnr } from '../measures/compare.js';
import type { Mask } from '../measures/objects.js';
import { drawArmScene } from '../scenes/arms.js';
import { drawScene } from '../scenes/draw.js';
import { drawDriveScene } from '../scenes/drive.js';
import { drawPushScene } from '../scenes/push.js';
import type { Random } from '../scenes/random.js';
import type { Scene } from '../scenes/scene.js';
import { drawToyScene } from '../scenes/toys.js';
import { type Check, overCases } from './bench.js';
import { type Figure, meanOf } from './figures.js';

const families: Readonly<Record<string, (random: Random) => Scene>> = {
  toys: (random) => drawToyScene(random),
  bridge: (random) => drawArmScene(random, 'bridge'),
  droid: (random) => drawArmScene(random, 'droid'),
  pusht: (random) => drawPushScene(random),
  driving: (random) => drawDriveScene(random),
};

/** Pixels of a depth map that show an object. */
function objectsOf({ width, height, data }: RgbClip, frame: number): Mask {
  const begin = frame * width * height * 3;
  return {
    width,
    height,
    on: Uint8Array.from({ length: width * height }, (_, i) => ((data[begin + i * 3] as number) > 40 ? 1 : 0)),
  };
}

export const autoencoder: Check = async (bench) => {
  const task = 'autoencoder';
  const figures: Figure[] = [];
  for (const [family, draw] of Object.entries(families)) {
    const found = await overCases(bench, `${task} ${family}`, 6, async (random, seed) => {
      const scene = draw(random);
      const truth = drawScene(scene);
      const depth = drawScene(scene, 'depth');
      const given = Array.from({ length: (scene.frames - 1) / 4 }, (_, frame) => frame);
      const made = await bench.studio.clip({
        task: 'video-to-video',
        prompt: 'A clip.',
        video: truth,
        conditionFrames: given,
        steps: 1,
        guidance: 1,
        seed,
      });
      // Frames whose latent was given, and whose neighbours were too.
      const frames = Array.from({ length: scene.frames - 8 }, (_, frame) => frame);
      const mean = (values: number[]) => values.reduce((sum, v) => sum + v, 0) / values.length;
      return {
        all: mean(frames.map((frame) => psnr(made, frame, truth, frame))),
        objects: mean(frames.map((frame) => psnr(made, frame, truth, frame, objectsOf(depth, frame)))),
      };
    });
    figures.push(
      meanOf(
        { task, measure: `${family}, all pixels`, unit: 'dB', bar: 34 },
        found.map(({ all }) => all),
      ),
      meanOf(
        { task, measure: `${family}, pixels of objects`, unit: 'dB', bar: 28 },
        found.map(({ objects }) => objects),
      ),
    );
  }
  return figures;
};
