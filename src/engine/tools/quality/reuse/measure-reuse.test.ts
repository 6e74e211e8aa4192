import { expect, it } from 'vitest';
import { loadNetworks } from '../../../checkpoint/load-networks.js';
import { openModel } from '../../../checkpoint/open-model.js';
import { readConfig } from '../../../config.js';
import { openDevice } from '../../../loader.js';
import { describeReuse, measureReuse, type ReuseJob } from './measure-reuse.js';

const job: ReuseJob = { prompts: 2, width: 32, height: 32, frames: 5, steps: 6, flowShift: 5, guidance: 3 };

it('counts what was computed, and compares with the whole run', async () => {
  const { checkpoint, facts } = await openModel({ model: 'test/golden/data/tiny-nano' }, readConfig({}));
  using _ = checkpoint;
  const { backend } = await openDevice('cpu', { threads: 1, blas: 'off' });
  await using _backend = backend;
  const { networks } = loadNetworks(checkpoint, backend);
  const only = ['guidance every 2', 'guidance every 3', 'seacache 0.25'];
  const rows = await measureReuse({ facts, networks, job, only });
  expect(rows.map(({ name }) => name)).toEqual(['seacache 0.25', 'guidance every 2', 'guidance every 3']);
  const [sea, two, three] = rows;
  expect(sea?.steps).toBe(sea?.passes);
  expect(two).toMatchObject({ steps: 1, passes: 9 / 12 });
  expect(three).toMatchObject({ steps: 1, passes: 8 / 12 });
  expect(two?.latents.relativeL2).toBeGreaterThan(0);
  expect(two?.latents.relativeL2).toBeLessThan(three?.latents.relativeL2 ?? 0);
  const lines = describeReuse({ model: 'tiny', job, device: 'cpu', rows });
  expect(lines[0]).toBe('tiny: 2 prompts, 32x32, 5 frames, 6 steps, shift 5, guidance 3, cpu');
  expect(lines[5]).toMatch(/^\| guidance every 2 \| 100 % \| 75 % \| 0\.\d{4} \| 0\.\d{4} \| [\d.]+ % \| [\d.]+ % \|$/);
});
