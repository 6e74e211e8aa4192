// Robots: what actions lead to, which actions a clip shows, which actions a task needs.

import type { RgbClip } from '../../../src/media/index.js';
import { explained } from '../measures/compare.js';
import { maskColor, measureMask, splitMask } from '../measures/objects.js';
import { drawArmScene, type RobotScene } from '../scenes/arms.js';
import { drawScene } from '../scenes/draw.js';
import { drawDriveScene } from '../scenes/drive.js';
import { drawPushScene } from '../scenes/push.js';
import { Random } from '../scenes/random.js';
import { colors, type Rgb } from '../scenes/scene.js';
import { type Check, overCases } from './bench.js';
import { type Figure, meanOf, resampled, shareOf } from './figures.js';

const families: Readonly<Record<string, (random: Random) => RobotScene>> = {
  bridge: (random) => drawArmScene(random, 'bridge'),
  'droid, 10 numbers': (random) => drawArmScene(random, 'droid'),
  'droid, 8 numbers': (random) => drawArmScene(random, 'droid-joints'),
  pusht: (random) => drawPushScene(random),
  av: (random) => drawDriveScene(random),
};

function actionOf(scene: RobotScene) {
  const viewPoint = scene.actionSize === 8 ? ('concat_view' as const) : ('ego_view' as const);
  return { domainName: scene.domain, rawActionDim: scene.actionSize, chunk: scene.frames - 1, viewPoint };
}

/** Where the thing of a colour is in a frame: the largest such part. */
function placeOf(clip: RgbClip, frame: number, color: Rgb) {
  const [mask] = splitMask(maskColor(clip, frame, color), 12);
  return mask === undefined ? null : measureMask(mask);
}

/**
 * Distance in per cent of the width between where the named thing (the nearest post, on a road) is at the end and where it should
 * be; null where the made frame shows nothing of its colour, undefined where the true frame does not.
 */
function endError(scene: RobotScene, made: RgbClip, truth: RgbClip): number | null | undefined {
  const last = truth.frames - 1;
  const seen = Object.values(colors).flatMap((color) => {
    const place = placeOf(truth, last, color);
    return place === null ? [] : [{ color, place }];
  });
  const wanted =
    scene.color === null
      ? seen.sort((a, b) => b.place.area - a.place.area)[0]
      : seen.find(({ color }) => color === colors[scene.color ?? 'red']);
  if (wanted === undefined) return undefined;
  const found = placeOf(made, last, wanted.color);
  if (found === null) return null;
  return (100 * Math.hypot(found.x - wanted.place.x, found.y - wanted.place.y)) / scene.width;
}

export const forwardDynamics: Check = async (bench) => {
  const task = 'forward-dynamics';
  const figures: Figure[] = [];
  for (const [family, draw] of Object.entries(families)) {
    const found = await overCases(bench, `${task} ${family}`, 15, async (random, seed) => {
      const scene = draw(random);
      const truth = drawScene(scene);
      const action = { ...actionOf(scene), actions: scene.actions };
      const image = drawScene(scene, 'rgb', 1);
      const made = await bench.studio.clip({ task, prompt: scene.instruction, image, action, seed });
      return endError(scene, made, truth);
    });
    const told = found.filter((error) => error !== undefined);
    const measure = `${family}, end position error of the width, where it is told`;
    figures.push(
      meanOf(
        { task, measure, bar: 3, atMost: true },
        told.filter((error) => error !== null),
      ),
      shareOf(
        { task, measure: `${family}, object told by its colour at the end` },
        told.map((error) => error !== null),
      ),
    );
  }
  return figures;
};

export const inverseDynamics: Check = async (bench) => {
  const task = 'inverse-dynamics';
  const figures: Figure[] = [];
  for (const [family, draw] of Object.entries(families)) {
    const found = await overCases(bench, `${task} ${family}`, 10, async (random, seed) => {
      const scene = draw(random);
      const made = await bench.studio.actions({ task, video: drawScene(scene), action: actionOf(scene), seed });
      return { made, wanted: scene.actions };
    });
    const size = found[0]?.wanted[0]?.length ?? 0;
    for (let c = 0; c < size; c++) {
      const column = (cases: typeof found, key: 'made' | 'wanted') =>
        cases.flatMap((rows) => rows[key].map((row) => row[c] as number));
      const score = (cases: typeof found) => explained(column(cases, 'made'), column(cases, 'wanted'));
      const value = score(found);
      if (value === null) continue;
      const random = new Random(c);
      const again = Array.from({ length: 400 }, () => score(found.map(() => random.pick(found))) ?? value);
      figures.push(
        resampled({ task, measure: `${family}, number ${c}`, unit: 'R²', bar: 0.9 }, value, again, found.length),
      );
    }
  }
  return figures;
};

export const policy: Check = async (bench) => {
  const task = 'policy';
  const figures: Figure[] = [];
  const all: boolean[] = [];
  for (const [family, draw] of Object.entries(families)) {
    if (family === 'av') continue;
    const found = await overCases(bench, `${task} ${family}`, 25, async (random, seed) => {
      const scene = draw(random);
      const action = { ...actionOf(scene), actionsOnly: true };
      const made = await bench.studio.actions({
        task,
        prompt: scene.instruction,
        image: drawScene(scene, 'rgb', 1),
        action,
        seed,
      });
      return scene.execute?.(made) ?? { done: false, miss: 0 };
    });
    all.push(...found.map(({ done }) => done));
    figures.push(
      shareOf(
        { task, measure: `${family}, task done` },
        found.map(({ done }) => done),
      ),
    );
  }
  return [shareOf({ task, measure: 'task done', bar: 85 }, all), ...figures];
};
