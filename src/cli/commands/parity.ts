// `orrery parity`: holds the engine against golden cases.
import type { Command } from 'commander';
import { exitCodes } from '../exit-codes.js';
import { printLine } from '../print.js';
import { addDeviceFlags, type DeviceFlags, readDeviceFlags } from './flags/device-flags.js';

interface ParityFlags extends DeviceFlags {
  readonly golden: string;
  readonly checkpoints?: string;
  readonly only?: string[];
  readonly json?: boolean;
}

const examples = `
Examples:
  orrery parity --golden test/golden/data
  orrery parity --golden ./cases --checkpoints ./checkpoints --only t2v i2v
  orrery parity --golden test/golden/data --device cuda --dtype f32

Each row says how far a case is from its numbers: comparisons made, the worst relative L2, and the first boundary that
fails. Exit code 1 when a case fails.`;

/** Adds the command. */
export function addParityCommand(program: Command): void {
  const command = program
    .command('parity')
    .description('compare every network and pipeline with golden cases, number by number')
    .requiredOption('--golden <folder>', 'folder with cases.json, cases/ and media/')
    .option('--checkpoints <folder>', 'where the checkpoints lie that the cases name; the golden folder where absent')
    .option('--only <case...>', 'only these cases')
    .option('--json', 'print one JSON line per case')
    .option('--debug', 'show stack traces')
    .addHelpText('after', examples)
    .action((flags: ParityFlags) => compare(flags));
  addDeviceFlags(command);
}

async function compare(flags: ParityFlags): Promise<void> {
  const { golden, checkpoints, only, json } = flags;
  const { formatRow, openParity, tableHead } = await import('../../engine/index.js');
  const failed: string[] = [];
  let count = 0;
  for await (const row of openParity({ golden, checkpoints, only, ...readDeviceFlags(flags) })) {
    if (json !== true && count === 0) printLine(tableHead);
    count++;
    if (!row.passed) failed.push(row.name);
    printLine(json === true ? JSON.stringify(row) : formatRow(row));
  }
  if (count === 0)
    throw new Error(`no case of ${golden} matches ${only?.join(', ') ?? 'anything'}; see its cases.json for the names`);
  if (json !== true) printLine(`${count - failed.length} passed, ${failed.length} failed`);
  if (failed.length > 0) process.exitCode = exitCodes.failed;
}
