// Prints a plan with its cost.
import { watchInterrupts } from '../interrupt.js';
import { printLine, printNote } from '../print.js';
import type { GenerateFlags } from './flags/generate-flags.js';
import { readFlags, readLoadFlags } from './flags/request-flags.js';

/** Plans the request of the flags, or reads the plan of an artifact, and prints it as JSON. */
export async function runPlan(flags: GenerateFlags): Promise<void> {
  const print = (value: object) => printLine(JSON.stringify(value, null, flags.json === true ? 0 : 2));
  const { from } = flags;
  if (from !== undefined) {
    const { readOriginal } = await import('../../engine/index.js');
    print((await readOriginal(from)).provenance);
    return;
  }
  const read = readFlags(flags);
  const { Orrery } = await import('../../engine/index.js');
  using interrupts = watchInterrupts(() => {});
  const { signal } = interrupts;
  await using orrery = await Orrery.load({ ...readLoadFlags(flags, read.model), signal });
  const { plan, warnings, estimate, hash } = await orrery.planRead(read, {
    signal,
    output: flags.output?.includes('-') ? undefined : flags.output,
  });
  if (flags.quiet !== true) for (const { message } of warnings) printNote(`warning: ${message}`);
  const { tokens, memoryBytes, textBytes, hostMemoryBytes, flops, chunks, passes } = estimate;
  print({ hash, plan, tokens, memoryBytes, textBytes, hostMemoryBytes, flops, chunks, passes, warnings });
}
