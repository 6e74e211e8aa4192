// Every op case on every device present, against the oracle; fused ops also against their composites.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HostTensor, UnsupportedFormatError } from '../../src/backend/index.js';
import { cases } from './cases/index.js';
import type { OpCase } from './cases/op-case.js';
import { devices } from './devices.js';
import { limits } from './limits.js';
import { createOracle } from './oracle.js';
import { compare, hostInputs, outputsOf, type ProbedDevice } from './run-case.js';

const answers = new Map<string, Promise<readonly HostTensor[]>>();

/** The oracle's outputs, worked out once for all devices of an activation dtype. */
function answer(item: OpCase, dtype: 'f32' | 'bf16'): Promise<readonly HostTensor[]> {
  const key = `${item.name} ${dtype}`;
  const known = answers.get(key) ?? outputsOf(createOracle(), item, item.run, hostInputs(item, dtype));
  answers.set(key, known);
  return known;
}

for (const row of devices) {
  describe(`ops on ${row.name}`, async () => {
    const present = await row.open({ probe: true });
    if (!present) return;
    let device: ProbedDevice;
    beforeAll(() => {
      device = present;
    });
    afterAll(() => device[Symbol.asyncDispose]());
    for (const item of cases) {
      it(item.name, async () => {
        const dtype = device.backend.activationDtype;
        if (item.needs && !device.backend.weightFormats.includes(item.needs)) {
          const refused = outputsOf(device.backend, item, item.run, hostInputs(item, dtype));
          await expect(refused).rejects.toThrow(UnsupportedFormatError);
          return;
        }
        const limit = limits[item.op][dtype];
        const wanted = await answer(item, dtype);
        const outcome = await compare(device, item, item.run, wanted);
        expect(outcome.problems).toEqual([]);
        expect(outcome.error).toBeLessThanOrEqual(limit);
        if (!item.composite) return;
        const split = await compare(device, item, item.composite, wanted);
        expect(split.problems).toEqual([]);
        expect(split.error).toBeLessThanOrEqual(limit);
      });
    }
  });
}
