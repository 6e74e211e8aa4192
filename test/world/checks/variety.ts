// Every motion, JSON captions, every size and length.
import { describeAsJson, describeClip } from '../scenes/captions.js';
import { drawToyScene, motions, type ToyOptions } from '../scenes/toys.js';
import { type Bench, type Check, isHeldOutCase, overCases } from './bench.js';
import { type Figure, shareOf } from './figures.js';
import { looksRight, movesRight } from './judge.js';

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

export const everyMotion: Check = (bench) =>
  tryAll(
    bench,
    motions
      .filter((motion) => motion !== 'straight')
      .map((motion) => ({ task: 'motions', measure: motion, count: 12, options: { motion } })),
  );

const straight = { motion: 'straight' } as const;
const sizes = [
  [256, 256],
  [320, 256],
  [256, 320],
  [192, 320],
] as const;

export const everyForm: Check = (bench) =>
  tryAll(bench, [
    { task: 'captions', measure: 'JSON', count: 20, options: straight, asJson: true },
    ...sizes.map(([width, height]) => ({
      task: 'sizes',
      measure: `${width}x${height}`,
      count: 10,
      options: { ...straight, width, height },
    })),
    ...[9, 17, 33].map((frames) => ({
      task: 'lengths',
      measure: `${frames} frames`,
      count: 10,
      options: { ...straight, frames },
    })),
  ]);
