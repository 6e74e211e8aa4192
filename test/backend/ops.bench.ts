// Timing mode of the harness: `npx vitest bench test/backend` times shapes as networks have them on each device present.
import { afterAll, bench, describe } from 'vitest';
import { timingCases } from './cases/timing.js';
import { devices } from './devices.js';
import { hostInputs, place } from './run-case.js';

for (const row of devices.filter(({ timed }) => timed)) {
  describe(row.name, async () => {
    const device = await row.open({ probe: false });
    if (!device) return;
    const b = device.backend;
    afterAll(() => device[Symbol.asyncDispose]());
    for (const item of timingCases) {
      const operands = place(b, item, hostInputs(item, b.activationDtype));
      bench(
        item.name,
        async () => {
          b.scope(() => {
            item.run(b, operands);
            return null;
          });
          await b.synchronize();
        },
        { time: 300, warmupIterations: 1, warmupTime: 0, iterations: 2 },
      );
    }
  });
}
