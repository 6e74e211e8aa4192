// Timing mode of the harness: shapes as networks have them, on each device present, best and middle time.
//   node scripts/carry.mjs --code && node .carry/app/test/backend/time-ops.js [DEVICE] [CASE]
import { timingCases } from './cases/timing.js';
import { devices } from './devices.js';
import { hostInputs, type ProbedDevice, place } from './run-case.js';

const secondsPerCase = 0.5;

interface Timing {
  readonly name: string;
  readonly bestMs: number;
  readonly middleMs: number;
}

/** Times each case whose name contains `wanted`, uploads left out. */
async function timeOps({ backend: b }: ProbedDevice, wanted: string): Promise<Timing[]> {
  const timings: Timing[] = [];
  for (const item of timingCases.filter(({ name }) => name.includes(wanted))) {
    const operands = place(b, item, hostInputs(item, b.activationDtype));
    const times: number[] = [];
    const end = performance.now() + secondsPerCase * 1000;
    do {
      const start = performance.now();
      b.scope(() => {
        item.run(b, operands);
        return null;
      });
      await b.synchronize();
      times.push(performance.now() - start);
    } while (performance.now() < end || times.length < 3);
    times.sort((x, y) => x - y);
    timings.push({
      name: item.name,
      bestMs: times[0] as number,
      middleMs: times[Math.floor(times.length / 2)] as number,
    });
    for (const tensor of operands.tensors.values()) tensor[Symbol.dispose]();
  }
  return timings;
}

const [wantedDevice = '', wantedCase = ''] = process.argv.slice(2);
for (const row of devices.filter(({ name, timed }) => timed && name.includes(wantedDevice))) {
  const device = await row.open({ probe: false });
  if (!device) continue;
  console.log(row.name);
  for (const { name, bestMs, middleMs } of await timeOps(device, wantedCase))
    console.log(
      `  ${name.padEnd(48)} best ${bestMs.toFixed(3).padStart(9)} ms   middle ${middleMs.toFixed(3).padStart(9)} ms`,
    );
  await device[Symbol.asyncDispose]();
}
