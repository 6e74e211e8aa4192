// A warmed engine: its shapes are run before the first request, whose negative prompt then has been read.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Orrery } from '../../src/engine/orrery.js';
import { goldenFolder } from '../golden/read-case.js';

const clip = { width: 64, height: 48, frames: 5, steps: 2, seed: 1, prompt: 'A cat.' };

it('runs every shape once, and what that read serves the first request', async () => {
  await using orrery = await Orrery.load({ model: join(goldenFolder, 'tiny-nano'), device: 'cpu', threads: 1 });
  await orrery.warmUp(['64x48x5', '64x48x5:image-to-video']);
  const warmed = orrery.kept;
  // The prompt of both, which their tasks format alike, and the usual negative one.
  expect(warmed?.texts).toMatchObject({ hits: 2, misses: 2, prompts: 2 });
  const artifact = await orrery.generate(clip).result();
  expect(artifact.work).toEqual({ steps: 2, computedSteps: 2, passes: 4, computedTexts: 1, reusedTexts: 1 });
  const again = await orrery.generate({ ...clip, seed: 2, skipSteps: [1] }).result();
  expect(again.work).toEqual({ steps: 2, computedSteps: 1, passes: 2, computedTexts: 0, reusedTexts: 2 });
  await expect(orrery.warmUp(['64x48x5:policy'])).rejects.toThrow('policy cannot be warmed up');
});

it('keeps no prompt where it may not', async () => {
  const keep = { textBytes: 0 };
  await using orrery = await Orrery.load({ model: join(goldenFolder, 'tiny-nano'), device: 'cpu', threads: 1, keep });
  for (const _ of [1, 2]) await orrery.generate({ ...clip, guidance: 1 }).result();
  expect(orrery.kept?.texts).toEqual({ hits: 0, misses: 2, prompts: 0, bytes: 0, limitBytes: 0 });
});
