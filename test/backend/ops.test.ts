// Every op case on every device present, against the oracle; fused ops also against their composites.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cases } from './cases/index.js';
import { devices } from './devices.js';
import { limits } from './limits.js';
import { createOracle } from './oracle.js';
import { measure, type ProbedDevice } from './run-case.js';

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
        const limit = limits[item.op][device.backend.activationDtype];
        const outcome = await measure(device, createOracle(), item, item.run);
        expect(outcome.problems).toEqual([]);
        expect(outcome.error).toBeLessThanOrEqual(limit);
        if (!item.composite) return;
        const split = await measure(device, createOracle(), item, item.composite);
        expect(split.problems).toEqual([]);
        expect(split.error).toBeLessThanOrEqual(limit);
      });
    }
  });
}
