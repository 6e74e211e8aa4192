// Proves the CUDA backend on a GPU: every op case in bfloat16 and float32, then graphs and memory. Arguments: a dtype and a part of
// the cases' names, both optional. The last line counts.
import { runGraphChecks } from './graph-checks.js';
import { printErrors, runOpCases } from './op-cases.js';
import { openGpu } from './open-gpu.js';

const dtypes = (['bf16', 'f32'] as const).filter((dtype) => !process.argv[2] || process.argv[2] === dtype);
let [passed, failed] = [0, 0];
for (const dtype of dtypes) {
  const start = performance.now();
  const guarded = openGpu(dtype, { guarded: true });
  console.log(guarded.name);
  const strayWrites = () => guarded.strayWrites();
  const tally = await runOpCases(
    { backend: guarded, strayWrites, [Symbol.asyncDispose]: async () => {} },
    process.argv[3],
  );
  printErrors(dtype, tally);
  const { compiled, fromDisk, compileMs } = guarded.report().modules;
  console.log(`kernels: ${compiled} compiled in ${(compileMs / 1000).toFixed(1)} s, ${fromDisk} from disk`);
  await guarded[Symbol.asyncDispose]();
  const plain = openGpu(dtype);
  const graphs = await runGraphChecks(plain);
  await plain[Symbol.asyncDispose]();
  passed += tally.passed + graphs.passed;
  failed += tally.failed + graphs.failed;
  console.log(`${dtype}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
}
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
