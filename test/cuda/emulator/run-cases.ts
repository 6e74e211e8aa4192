// Every op case on the emulated device against the oracle: arguments are a dtype and a part of the cases' names, both optional.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runGraphChecks } from '../../gpu/graph-checks.js';
import { printErrors, runOpCases } from '../../gpu/op-cases.js';
import { openEmulatedDevice } from '../emulated-device.js';
import { checkKeptSteps } from './kept-steps.js';

const dtypes = (['bf16', 'f32'] as const).filter((dtype) => !process.argv[2] || process.argv[2] === dtype);
const folder = join(tmpdir(), 'orrery-emulated');
let [passed, failed] = [0, 0];
for (const dtype of dtypes) {
  const backend = openEmulatedDevice(dtype, folder);
  const strayWrites = () => backend.strayWrites();
  const tally = await runOpCases({ backend, strayWrites, [Symbol.asyncDispose]: async () => {} }, process.argv[3]);
  printErrors(dtype, tally);
  const graphs = await runGraphChecks(openEmulatedDevice(dtype, folder, { guarded: false }));
  passed += tally.passed + graphs.passed;
  failed += tally.failed + graphs.failed;
  await backend[Symbol.asyncDispose]();
}
// Whole jobs: part `kept` of the names.
if (dtypes.includes('bf16') && 'kept steps'.includes(process.argv[3] ?? '')) {
  await using backend = openEmulatedDevice('bf16', folder, { guarded: false });
  const kept = await checkKeptSteps(backend);
  console.log(`kept steps: ${kept.passed} passed`);
  passed += kept.passed;
  failed += kept.failed;
}
// Attention and convolutions once more, by a fake cuDNN that computes whatever it is given.
if (dtypes.includes('bf16'))
  for (const name of ['attention', 'conv'].filter((op) => op.includes(process.argv[3] ?? ''))) {
    const backend = openEmulatedDevice('bf16', folder, { cudnn: true });
    const strayWrites = () => backend.strayWrites();
    const tally = await runOpCases({ backend, strayWrites, [Symbol.asyncDispose]: async () => {} }, name);
    const { attention, convolution } = backend.report();
    const served = [...attention, ...convolution].filter((line) => line.includes('engine')).length;
    console.log(`cuDNN, ${name}: ${served} shapes by it`);
    passed += tally.passed;
    failed += tally.failed;
    await backend[Symbol.asyncDispose]();
  }
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
