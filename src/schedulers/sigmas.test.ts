import { describe, expect, it } from 'vitest';
import { caseInfo, readCase } from '../../test/golden/read-case.js';
import { fixedSigmas, flowSigmas, karrasSigmas, type Sigmas } from './sigmas.js';

const golden = readCase('scheduler');
const schedules = [...new Set(golden.keys().map((key) => key.slice(0, key.lastIndexOf('/'))))];

function sigmasOf(schedule: string): Sigmas {
  const [config = '', count] = schedule.split('/');
  const steps = Number(count);
  if (config === 'karras') return karrasSigmas({ steps, sigmaMin: 0.01, sigmaMax: 200 });
  const shift = Number(/^flow(\d+)/.exec(config)?.[1]);
  return flowSigmas({ steps, shift, grid: config.endsWith('_native') ? 'native' : 'linspace' });
}

function expectSigmas(found: Sigmas, sigmas: Float32Array, timesteps: Float32Array): void {
  expect(found.sigmas.length).toBe(sigmas.length);
  found.sigmas.forEach((sigma, i) => {
    expect(Math.abs(sigma - (sigmas[i] as number))).toBeLessThanOrEqual(1.2e-7 * (sigmas[i] as number));
  });
  expect([...found.timesteps]).toEqual([...timesteps]);
}

describe('sigmas', () => {
  it('has 54 golden schedules to hold against', () => {
    expect(schedules.length).toBe(54);
  });

  it.each(schedules)('equal the golden schedule %s', (schedule) => {
    expectSigmas(sigmasOf(schedule), golden.floats(`${schedule}/sigmas`), golden.floats(`${schedule}/timesteps`));
  });

  it.each(['t2i', 't2v', 't2v_nocfg', 'edge_t2v', 'action_policy'])('equal those of the case %s', (name) => {
    const { request, use_native_flow_schedule } = caseInfo(name);
    const file = readCase(name);
    const grid = use_native_flow_schedule ? 'native' : 'linspace';
    const found = flowSigmas({ steps: Number(request.num_inference_steps), shift: 10, grid });
    expectSigmas(found, file.floats('sigmas'), file.floats('timesteps'));
  });

  it('equal those of the karras case', () => {
    const file = readCase('t2i_karras');
    expectSigmas(
      karrasSigmas({ steps: 6, sigmaMin: 0.01, sigmaMax: 200 }),
      file.floats('sigmas'),
      file.floats('timesteps'),
    );
  });

  it('gives the published timesteps of the native grid at shift 10', () => {
    const { timesteps } = flowSigmas({ steps: 10, shift: 10, grid: 'native' });
    expect([...timesteps]).toEqual([999, 988, 975, 958, 937, 908, 869, 810, 714, 526]);
  });

  it('keeps the timesteps of a fixed list untruncated, as the distilled case has them', () => {
    const file = readCase('distilled_t2v');
    const list = caseInfo('distilled_t2v').distilled_sigmas ?? [];
    const { sigmas, timesteps } = fixedSigmas(list);
    expect([...sigmas]).toEqual([1, 0.9375, Math.fround(0.8333), 0.625, 0]);
    const told = [0, 1, 2, 3].map((call) => file.floats(`call0${call}/timestep`)[0]);
    expect([...timesteps]).toEqual(told);
    expect([...fixedSigmas([...list, 0]).sigmas]).toEqual([...sigmas]);
  });

  it('refuses what makes no schedule, naming the value', () => {
    expect(() => flowSigmas({ steps: 0, shift: 10, grid: 'native' })).toThrow('the number of steps is 0');
    expect(() => flowSigmas({ steps: 2.5, shift: 10, grid: 'native' })).toThrow('2.5');
    expect(() => flowSigmas({ steps: 4, shift: 0, grid: 'native' })).toThrow('shift is 0');
    expect(() => flowSigmas({ steps: 4, shift: Number.NaN, grid: 'linspace' })).toThrow('shift is NaN');
    expect(() => karrasSigmas({ steps: 4, sigmaMin: 2, sigmaMax: 1 })).toThrow('sigmaMin 2 is above sigmaMax 1');
    expect(() => fixedSigmas([])).toThrow('empty');
    expect(() => fixedSigmas([0.5, 0.75])).toThrow('sigma 1 of the list is 0.75');
    expect(() => fixedSigmas([1.5, 0.75])).toThrow('sigma 0 of the list is 1.5');
  });
});
