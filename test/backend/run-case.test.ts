// The harness must notice what it is there for: devices that are wrong, write astray or spoil their inputs.
import { describe, expect, it } from 'vitest';
import type { Backend } from '../../src/backend/index.js';
import { cases } from './cases/index.js';
import { type OpCase, random } from './cases/op-case.js';
import { nmse } from './limits.js';
import { createOracle } from './oracle.js';
import { compare, hostInputs, outputsOf, type ProbedDevice } from './run-case.js';

const item: OpCase = {
  op: 'pointwise',
  name: 'sum of two tensors',
  inputs: { a: random([4, 5]), b: random([4, 5]) },
  run: (b, { t }) => [b.add(t('a'), t('b'))],
};

function device(change: (oracle: Backend) => Partial<Backend>, strayWrites: () => string[] = () => []): ProbedDevice {
  const oracle = createOracle();
  return { backend: { ...oracle, ...change(oracle) }, strayWrites, async [Symbol.asyncDispose]() {} };
}

async function outcome(tested: ProbedDevice) {
  const wanted = await outputsOf(createOracle(), item, item.run, hostInputs(item, 'f32'));
  return compare(tested, item, item.run, wanted);
}

describe('compare', () => {
  it('finds nothing wrong with a right device', async () => {
    expect(await outcome(device(() => ({})))).toEqual({ error: 0, problems: [] });
  });

  it('measures wrong numbers', async () => {
    const { error } = await outcome(device((b) => ({ add: (x, y) => b.add(x, b.add(y, y)) })));
    expect(error).toBeGreaterThan(0.1);
  });

  it('takes a NaN left in an output for infinitely wrong', async () => {
    const nan = Float32Array.of(Number.NaN);
    const poison = (b: Backend): Partial<Backend> => ({
      add: (x, y) => {
        const sum = b.add(x, y);
        b.write(
          b.slice(b.view(sum, [20]), 0, 7, 8),
          b.upload({ shape: [1], dtype: 'f32', bytes: new Uint8Array(nan.buffer) }),
        );
        return sum;
      },
    });
    expect((await outcome(device(poison))).error).toBe(Number.POSITIVE_INFINITY);
  });

  it('reports spoilt inputs, stray writes and wrong shapes', async () => {
    const spoil = (b: Backend): Partial<Backend> => ({
      add: (x, y) => {
        const sum = b.add(x, y);
        b.write(x, y);
        return b.view(sum, [20]);
      },
    });
    const { error, problems } = await outcome(device(spoil, () => ['4 bytes after a block of 80']));
    expect(problems).toEqual([
      '4 bytes after a block of 80',
      'input a was changed',
      'output 0 is [20], expected [4, 5]',
    ]);
    expect(error).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('nmse', () => {
  it('is the squared error over the squared size', () => {
    expect(nmse(Float64Array.of(1, 2), Float64Array.of(1, 1))).toBe(0.5);
    expect(nmse(Float64Array.of(Number.NaN), Float64Array.of(Number.NaN))).toBe(0);
    expect(nmse(Float64Array.of(1), Float64Array.of(1, 2))).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('cases', () => {
  it('have names of their own and cover every op', () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
    const called = new Set<string>();
    const oracle = createOracle();
    const listening = new Proxy(oracle, {
      get(target, name: keyof Backend & string) {
        called.add(name);
        return target[name];
      },
    });
    for (const { inputs, run } of cases) {
      run(listening, {
        t: (name) => oracle.upload(hostOf(inputs, name)),
        w: (name) => {
          const input = inputs[name];
          if (input?.kind !== 'weight') throw new Error(name);
          return oracle.weight(input.parts(name), input.use, { format: input.format ?? 'dense' });
        },
      });
    }
    const elsewhere = new Set([
      'name',
      'activationDtype',
      'weightFormats',
      'upload',
      'weight',
      'offload',
      'download',
      'scope',
      'capture',
      'synchronize',
    ]);
    const missing = Object.keys(oracle).filter((name) => !called.has(name) && !elsewhere.has(name));
    expect(missing).toEqual([]);
  });
});

function hostOf(inputs: OpCase['inputs'], name: string) {
  const input = inputs[name];
  if (input?.kind !== 'tensor') throw new Error(name);
  return input.host(name);
}
