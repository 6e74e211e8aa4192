// Every motion, JSON captions, every size and length.
import { describeAsJson, describeClip } from '../scenes/captions.js';
import { drawToyScene, type Motion, motions, type ToyOptions } from '../scenes/toys.js';
import { type Bench, type Check, isHeldOutCase, overCases } from './bench.js';
import { type Figure, shareOf } from './figures.js';
import { looksRight, movesRight } from './judge.js';
import { overSoundingClips } from './ticks.js';

interface Trial {
  readonly task: string;
  readonly measure: string;
  readonly count: number;
  readonly options: ToyOptions;
  readonly asJson?: boolean;
}

async function tryOut(
  bench: Bench,
  { task, measure, count, options, asJson = false }: Trial,
): Promise<readonly Figure[]> {
  const found = await overCases(bench, `${task} ${measure}`, count, async (random, seed) => {
    const scene = drawToyScene(random, { heldOut: isHeldOutCase(seed), ...options });
    const { width, height, frames } = scene;
    const prompt = asJson ? describeAsJson(random, scene) : describeClip(random, scene);
    const clip = await bench.studio.clip({ task: 'text-to-video', prompt, width, height, frames, seed });
    return { looks: looksRight(clip, scene), moves: movesRight(clip, scene) };
  });
  return figuresOf(task, measure, found);
}

function figuresOf(
  task: string,
  measure: string,
  found: readonly { readonly looks: boolean; readonly moves: boolean }[],
): readonly Figure[] {
  return [
    shareOf(
      { task, measure: `${measure}, motion`, bar: 90 },
      found.map(({ moves }) => moves),
    ),
    shareOf(
      { task, measure: `${measure}, colour and shape`, bar: 90 },
      found.map(({ looks }) => looks),
    ),
  ];
}

async function tryAll(bench: Bench, trials: readonly Trial[]): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const trial of trials) figures.push(...(await tryOut(bench, trial)));
  return figures;
}

/** Motions that sound are judged on the clips that the sound is listened to in. */
const sounding: readonly Motion[] = ['bounce', 'walls'];

export const everyMotion: Check = async (bench) => {
  const task = 'motions';
  const heard = await overSoundingClips(bench, ({ scene, clip }) => ({
    motion: scene.motion,
    looks: looksRight(clip, scene),
    moves: movesRight(clip, scene),
  }));
  const others = motions.filter((motion) => motion !== 'straight' && !sounding.includes(motion));
  return [
    ...sounding.flatMap((motion) =>
      figuresOf(
        task,
        motion,
        heard.filter((made) => made.motion === motion),
      ),
    ),
    ...(await tryAll(
      bench,
      others.map((motion) => ({ task, measure: motion, count: 12, options: { motion } })),
    )),
  ];
};

const straight = { motion: 'straight' } as const;
const sizes = [
  [256, 256],
  [320, 256],
  [256, 320],
  [192, 320],
] as const;

export const everyForm: Check = (bench) =>
  tryAll(bench, [
    { task: 'captions', measure: 'JSON', count: 16, options: straight, asJson: true },
    ...sizes.map(([width, height]) => ({
      task: 'sizes',
      measure: `${width}x${height}`,
      count: 8,
      options: { ...straight, width, height },
    })),
    ...[9, 17, 33].map((frames) => ({
      task: 'lengths',
      measure: `${frames} frames`,
      count: 8,
      options: { ...straight, frames },
    })),
  ]);
