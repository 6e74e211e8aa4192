// Runs every op case on one device against the oracle without a test framework, and prints what failed.
import { cases } from '../backend/cases/index.js';
import { limits } from '../backend/limits.js';
import { createOracle } from '../backend/oracle.js';
import { compare, hostInputs, outputsOf, type ProbedDevice } from '../backend/run-case.js';

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  /** Largest error by op. */
  readonly errors: ReadonlyMap<string, number>;
}

/** @param wanted runs only cases whose name contains it. */
export async function runOpCases(device: ProbedDevice, wanted = ''): Promise<Tally> {
  const dtype = device.backend.activationDtype;
  const errors = new Map<string, number>();
  let passed = 0;
  let failed = 0;
  for (const item of cases.filter(({ name }) => name.includes(wanted))) {
    const problems: string[] = [];
    try {
      const outputs = await outputsOf(createOracle(), item, item.run, hostInputs(item, dtype));
      for (const run of [item.run, ...(item.composite ? [item.composite] : [])]) {
        const outcome = await compare(device, item, run, outputs);
        problems.push(...outcome.problems);
        errors.set(item.op, Math.max(errors.get(item.op) ?? 0, outcome.error));
        if (!(outcome.error <= limits[item.op][dtype]))
          problems.push(`error ${outcome.error.toExponential(2)}, at most ${limits[item.op][dtype]}`);
      }
    } catch (error) {
      problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    if (problems.length === 0) passed++;
    else {
      failed++;
      console.log(`FAILED ${dtype} ${item.name}: ${problems.join('; ')}`);
    }
  }
  return { passed, failed, errors };
}

/** One line an op: its largest error and its limit. */
export function printErrors(dtype: 'f32' | 'bf16', { errors }: Tally): void {
  for (const [op, error] of errors) {
    const limit = Object.entries(limits).find(([name]) => name === op)?.[1][dtype];
    console.log(`${dtype.padEnd(5)}${op.padEnd(20)}${error.toExponential(2).padStart(10)}  limit ${limit}`);
  }
}
