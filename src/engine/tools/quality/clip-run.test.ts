import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Facts } from '../../../pipeline/facts.js';
import type { Networks } from '../../../pipeline/networks.js';
import { plan as makePlan } from '../../../pipeline/plan.js';
import type { Plan } from '../../../pipeline/plan-types.js';
import { loadNetworks } from '../../checkpoint/load-networks.js';
import { type OpenedModel, openModel } from '../../checkpoint/open-model.js';
import { readConfig } from '../../config.js';
import { openDevice } from '../../loader.js';
import { decodeClip, runClip } from './clip-run.js';

let model: OpenedModel;
let networks: Networks;

beforeAll(async () => {
  model = await openModel({ model: 'test/golden/data/tiny-nano' }, readConfig({}));
  const { backend } = await openDevice('cpu', { threads: 1, blas: 'off' });
  networks = loadNetworks(model.checkpoint, backend).networks;
});

afterAll(async () => {
  await networks.backend[Symbol.asyncDispose]();
  model.checkpoint[Symbol.dispose]();
});

function planOf(seed: number, skipSteps: readonly number[] = []): Plan {
  const facts: Facts = { checkpoint: model.facts, image: null, video: null, hints: [], randomSeed: 0 };
  const request = { prompt: 'A red ball.', width: 32, height: 32, frames: 5, steps: 4, guidance: 1, seed, skipSteps };
  return makePlan({ ...request, task: 'text-to-video' }, facts).plan;
}

describe('runClip', () => {
  it('gives frames, final latents, and what each step made', async () => {
    const run = await runClip(planOf(1, [2]), networks);
    expect(run.frames).toHaveLength(5 * 32 * 32 * 3);
    expect(run.latents.shape).toEqual([2, 2, 2, 8]);
    expect(run.velocities.map((velocity) => velocity?.length ?? null)).toEqual([64, 64, null, 64]);
    expect(run.samples).toHaveLength(4);
    // The last sample is the final latents, channels in front.
    expect(run.samples[3]?.[8 * 1 + 3]).toBe(run.latents.data[8 * 3 + 1]);
  });

  it('computes a forced velocity from the given samples, whatever the noise was', async () => {
    const reference = await runClip(planOf(1), networks);
    const forced = await runClip(planOf(2), networks, reference.samples);
    expect(forced.velocities[0]).not.toEqual(reference.velocities[0]);
    for (const step of [1, 2, 3]) expect(forced.velocities[step]).toEqual(reference.velocities[step]);
    expect(forced.frames).toHaveLength(0);
  });
});

it('decodeClip makes the frames of a run from its latents', async () => {
  const { frames, latents } = await runClip(planOf(3), networks);
  expect(await decodeClip(networks, latents)).toEqual(frames);
});
