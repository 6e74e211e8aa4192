// A few prompts of every kind through the shipped checkpoint: what it reliably does. `npm run world` measures in full.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/engine/config.js';
import { Orrery } from '../../src/index.js';
import type { Bench } from './checks/bench.js';
import { imageToVideo } from './checks/continued.js';
import { type Figure, formatFigures } from './checks/figures.js';
import { Studio } from './checks/studio.js';
import { textToImage, textToVideo } from './checks/words.js';

let engine: Orrery;
let studio: Studio;
const benchOf = (scale: number, frames?: number): Bench => ({
  studio,
  scale,
  set: 0,
  ...(frames !== undefined && { frames }),
  report: () => undefined,
});
/** The shortest clips in which even a slow thing goes far enough. */
const short = 17;

beforeAll(async () => {
  engine = await Orrery.load({ config: { ...readConfig({}), threads: 2, blas: 'off' } });
  studio = new Studio(engine);
});

afterAll(async () => {
  studio[Symbol.dispose]();
  await engine[Symbol.asyncDispose]();
});

function figureOf(figures: readonly Figure[], measure: string): number {
  const found = figures.find((figure) => figure.measure === measure);
  if (found === undefined) throw new Error(`no figure ${measure} in\n${formatFigures(figures)}`);
  return found.value;
}

describe('the small checkpoint', () => {
  it('paints what the words say', { timeout: 300_000 }, async () => {
    const figures = await textToImage(benchOf(0.04));
    expect(figureOf(figures, 'colour'), formatFigures(figures)).toBeGreaterThanOrEqual(90);
    expect(figureOf(figures, 'shape'), formatFigures(figures)).toBeGreaterThanOrEqual(85);
  });

  it('moves it where they say', { timeout: 300_000 }, async () => {
    const figures = await textToVideo(benchOf(0.015, short));
    expect(figureOf(figures, 'colour'), formatFigures(figures)).toBeGreaterThanOrEqual(60);
    expect(figureOf(figures, 'direction'), formatFigures(figures)).toBe(100);
  });

  it('begins with the picture given', { timeout: 300_000 }, async () => {
    const figures = await imageToVideo(benchOf(0.01, short));
    expect(figureOf(figures, 'frame 0'), formatFigures(figures)).toBeGreaterThan(36);
    expect(figureOf(figures, 'direction'), formatFigures(figures)).toBe(100);
  });
});
