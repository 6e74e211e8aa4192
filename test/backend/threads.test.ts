// The CPU device gives the same bytes with one, two and three threads, with the kernels and with a BLAS.
import { afterAll, describe, expect, it } from 'vitest';
import { createCpuBackend } from '../../src/cpu/index.js';
import { attentionCases } from './cases/attention.js';
import { largeCases } from './cases/large.js';
import { hostInputs, outputsOf } from './run-case.js';

const counts = [1, 2, 3];
// One tile is done by one thread: only cases with several can tell threads apart.
const cases = [...largeCases, ...attentionCases];

for (const blas of [null, 'auto']) {
  describe(`threads with ${blas === null ? 'kernels' : 'a BLAS where there is one'}`, async () => {
    const devices = await Promise.all(counts.map((threads) => createCpuBackend({ threads, blas })));
    afterAll(async () => {
      for (const device of devices) await device[Symbol.asyncDispose]();
    });
    it.each(cases.map((item) => [item.name, item] as const))('%s', async (_, item) => {
      const hosts = hostInputs(item, 'f32');
      const [one = [], ...others] = await Promise.all(devices.map((b) => outputsOf(b, item, item.run, hosts)));
      expect(others).toHaveLength(2);
      for (const outputs of others)
        for (const [i, output] of outputs.entries())
          expect(Buffer.compare(output.bytes, one[i]?.bytes ?? new Uint8Array())).toBe(0);
    });
  });
}
