import { describe, expect, it } from 'vitest';
import { readCase } from '../../test/golden/read-case.js';
import { flowEulerTable } from './flow-euler.js';
import { fixedSigmas, flowSigmas, karrasSigmas } from './sigmas.js';
import { type SolverTable, solverInputs, solverOutputs, solverStepSize, toSolverTable } from './solver-table.js';
import { unipcTable } from './unipc.js';

/** Runs a table over float32 arrays exactly as a device does; history is poisoned with NaN to prove that it is never read early. */
function run(
  table: SolverTable,
  start: Float32Array,
  velocityAt: (step: number, sample: Float32Array) => Float32Array,
  noiseAt?: (step: number) => Float32Array,
): Float32Array[] {
  const unset = new Float32Array(start.length).fill(Number.NaN);
  let sample = start;
  let [corrected, data1, data2, data3]: [Float32Array, Float32Array, Float32Array, Float32Array] = [
    unset,
    unset,
    unset,
    unset,
  ];
  const trail: Float32Array[] = [];
  for (let step = 0; step < table.steps; step++) {
    const inputs = [sample, velocityAt(step, sample), corrected, data1, data2, data3, noiseAt?.(step) ?? unset];
    const outputs = solverOutputs.map((_, row) =>
      Float32Array.from(start, (_, element) => {
        let sum = 0;
        inputs.forEach((input, column) => {
          const c = table.coefficients[step * solverStepSize + row * solverInputs.length + column] as number;
          if (c !== 0) sum = Math.fround(sum + Math.fround(c * (input[element] as number)));
        });
        return sum;
      }),
    );
    const [next, fixed, data] = outputs as [Float32Array, Float32Array, Float32Array];
    [sample, corrected, data1, data2, data3] = [next, fixed, data, data1, data2];
    trail.push(sample);
  }
  return trail;
}

/** Largest difference over the largest value. */
function relativeError(found: Float32Array, wanted: Float32Array): number {
  const scale = Math.max(...wanted.map(Math.abs));
  return Math.max(...found.map((value, i) => Math.abs(value - (wanted[i] as number)))) / scale;
}

const golden = readCase('scheduler');
const trajectories = golden
  .keys()
  .filter((key) => key.endsWith('/x0'))
  .map((key) => key.slice(0, -3));

const row = (table: SolverTable, step: number, output: (typeof solverOutputs)[number]) => {
  const begin = step * solverStepSize + solverOutputs.indexOf(output) * solverInputs.length;
  return [...table.coefficients.subarray(begin, begin + solverInputs.length)];
};

describe('unipcTable', () => {
  it('has 18 golden trajectories to follow', () => {
    expect(trajectories.length).toBe(18);
  });

  it.each(trajectories)('follows the golden trajectory %s within 1e-5', (name) => {
    const config = name.split('/')[0] as string;
    const table = unipcTable({
      sigmas: golden.floats(`${name}/sigmas`),
      order: config.endsWith('order3') ? 3 : 2,
      solverType: config.endsWith('bh1') ? 'bh1' : 'bh2',
    });
    const two = (n: number) => String(n).padStart(2, '0');
    const trail = run(table, golden.floats(`${name}/x0`), (step) => golden.floats(`${name}/v${two(step)}`));
    // The last golden value of bh1 is 0 times infinity.
    const comparable = config.endsWith('bh1') ? trail.length - 1 : trail.length;
    for (let step = 0; step < comparable; step++) {
      const wanted = golden.floats(`${name}/x${two(step + 1)}`);
      expect(relativeError(trail[step] as Float32Array, wanted)).toBeLessThanOrEqual(1e-5);
    }
    expect(trail.at(-1)?.every(Number.isFinite)).toBe(true);
  });

  it('makes the last step the data prediction, for bh1 too', () => {
    const { sigmas } = flowSigmas({ steps: 5, shift: 10, grid: 'native' });
    for (const solverType of ['bh1', 'bh2'] as const) {
      const table = unipcTable({ sigmas, order: 2, solverType });
      expect(row(table, 4, 'next')).toEqual([1, -(sigmas[4] as number), 0, 0, 0, 0, 0]);
      expect(row(table, 4, 'data')).toEqual(row(table, 4, 'next'));
    }
  });

  it('reads no history at the first step and no more than the order allows later', () => {
    const { sigmas } = flowSigmas({ steps: 8, shift: 3, grid: 'native' });
    const table = unipcTable({ sigmas, order: 3, solverType: 'bh2' });
    expect(row(table, 0, 'corrected')).toEqual([1, 0, 0, 0, 0, 0, 0]);
    expect(row(table, 0, 'next').slice(2)).toEqual([0, 0, 0, 0, 0]);
    expect(row(table, 1, 'next').slice(4)).toEqual([0, 0, 0]);
    expect(row(table, 2, 'next').slice(5)).toEqual([0, 0]);
    expect(row(table, 3, 'corrected')[5]).not.toBe(0);
    expect(row(table, 3, 'next')[6]).toBe(0);
  });

  it('has the first-order coefficients worked out by hand', () => {
    // sigma 0.8, 0.5, 0: lambda = ln(1/4), ln 1, so h = ln 4, expm1(-h) = -3/4; next = 5/8 x + 1/2 * 3/4 m, m = x - 0.8 v.
    const table = unipcTable({ sigmas: new Float32Array([0.8, 0.5, 0]), order: 1, solverType: 'bh2' });
    const [sample, velocity] = row(table, 0, 'next') as [number, number];
    expect(sample).toBeCloseTo(1, 6);
    expect(velocity).toBeCloseTo(-0.3, 6);
    // Corrector of order 1: 5/8 corrected + 3/8 data1 + 3/8 * 1/2 * (m - data1), m = x - 0.5 v.
    const wanted = [3 / 16, -3 / 32, 5 / 8, 3 / 16, 0, 0, 0];
    row(table, 1, 'corrected').forEach((value, i) => {
      expect(value).toBeCloseTo(wanted[i] as number, 6);
    });
  });

  it.each([
    [1, 'bh1'],
    [1, 'bh2'],
    [2, 'bh1'],
    [2, 'bh2'],
    [3, 'bh1'],
    [3, 'bh2'],
  ] as const)('of order %i, %s recovers constant data from any noise, on every grid', (order, solverType) => {
    const [truth, noise] = [0.75, -1.25];
    for (const { sigmas } of [
      flowSigmas({ steps: 1, shift: 10, grid: 'native' }),
      flowSigmas({ steps: 35, shift: 10, grid: 'native' }),
      flowSigmas({ steps: 200, shift: 1, grid: 'linspace' }),
      karrasSigmas({ steps: 12, sigmaMin: 0.01, sigmaMax: 200 }),
    ]) {
      const top = sigmas[0] as number;
      const start = new Float32Array([(1 - top) * truth + top * noise]);
      const trail = run(unipcTable({ sigmas, order, solverType }), start, (step, [x = 0]) => {
        return new Float32Array([(x - truth) / (sigmas[step] as number)]);
      });
      expect(trail.at(-1)?.[0]).toBeCloseTo(truth, 5);
    }
  });

  it('refuses unsuited options, naming the value', () => {
    const sigmas = new Float32Array([0.9, 0.5, 0]);
    expect(() => unipcTable({ sigmas, order: 4, solverType: 'bh2' })).toThrow('the solver order is 4');
    expect(() => unipcTable({ sigmas: new Float32Array([0.5, 0.5, 0]), order: 2, solverType: 'bh2' })).toThrow(
      'sigma 1 of 3 is 0.5; it must be above 0 and below 0.5',
    );
    expect(() => unipcTable({ sigmas: new Float32Array([1, 0]), order: 2, solverType: 'bh2' })).toThrow('sigma 0');
    expect(() => unipcTable({ sigmas: new Float32Array([0.5]), order: 2, solverType: 'bh2' })).toThrow('no step');
  });
});

describe('flowEulerTable', () => {
  it('follows the distilled golden case within 1e-6', () => {
    const file = readCase('distilled_t2v');
    const table = flowEulerTable(fixedSigmas([1, 0.9375, 0.8333, 0.625]).sigmas);
    expect(table.stochastic).toBe(true);
    const trail = run(
      table,
      file.floats('noise/00'),
      (step) => file.floats(`call0${step}/velocity`),
      (step) => file.floats(`noise/0${step + 1}`),
    );
    // The case holds what each call read, so that the state after a step is the next call's input.
    expect(trail.length).toBe(4);
    for (const step of [0, 1, 2]) {
      const wanted = file.floats(`call0${step + 1}/latents`);
      expect(relativeError(trail[step] as Float32Array, wanted)).toBeLessThanOrEqual(1e-6);
    }
  });

  it('has the coefficients worked out by hand', () => {
    const table = flowEulerTable(new Float32Array([1, 0.25, 0]));
    expect(row(table, 0, 'next')).toEqual([0.75, -0.75, 0, 0, 0, 0, 0.25]);
    expect(row(table, 1, 'next')).toEqual([1, -0.25, 0, 0, 0, 0, 0]);
    expect(() => flowEulerTable(new Float32Array([1]))).toThrow('1 sigmas make no step');
  });
});

describe('toSolverTable', () => {
  it('refuses coefficients that are not finite', () => {
    const broken = { next: { sample: Number.POSITIVE_INFINITY }, corrected: {}, data: {} };
    expect(() => toSolverTable([broken], false)).toThrow('the coefficient of sample in next at step 0 is Infinity');
  });
});
