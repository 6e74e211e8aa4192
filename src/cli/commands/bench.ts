// `orrery bench`: how fast this machine is.
import type { Command } from 'commander';
import { RequestError } from '../../protocol/index.js';
import { formatTable, printLine } from '../print.js';

interface BenchFlags {
  readonly threads?: string;
  readonly seconds?: string;
  readonly json?: boolean;
}

const examples = `
Examples:
  orrery bench cpu
  orrery bench cpu --threads 1,2,4 --json

ORRERY_BLAS=off measures the built-in kernels where an OpenBLAS is installed.`;

/** Adds the command. */
export function addBenchCommand(program: Command): void {
  program
    .command('bench')
    .description('measure matmul, attention and conv3d in GFLOP/s, and the time of a tiny clip')
    .argument('[device]', 'cpu', 'cpu')
    .option('--threads <list>', 'thread counts, as 1,2,4; one and all where absent')
    .option('--seconds <n>', 'seconds per measurement')
    .option('--json', 'print one JSON object')
    .option('--debug', 'show stack traces')
    .addHelpText('after', examples)
    .action(async (device: string, flags: BenchFlags) => {
      if (device !== 'cpu')
        throw new RequestError('invalid_value', 'device', `device ${device} cannot be measured; there is: cpu`);
      const threads = flags.threads?.split(',').map((text) => readPositive('threads', text, true));
      const seconds = flags.seconds === undefined ? undefined : readPositive('seconds', flags.seconds, false);
      const { benchMachine } = await import('../../engine/index.js');
      const bench = await benchMachine({ threads, seconds });
      if (flags.json === true) {
        printLine(JSON.stringify(bench));
        return;
      }
      for (const line of bench.devices) printLine(line);
      const rows = bench.rows.map((row) => [row.op, String(row.threads), row.gflops.toFixed(1)]);
      printLine(formatTable([['op', 'threads', 'GFLOP/s'], ...rows]));
      const { frames, width, height, steps, seconds: time } = bench.clip;
      printLine(`clip of ${frames} frames, ${width}x${height}, ${steps} steps: ${time.toFixed(2)} s`);
    });
}

function readPositive(name: string, text: string, isWhole: boolean): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value) && (!isWhole || Number.isInteger(value))) return value;
  throw new RequestError(
    'invalid_value',
    name,
    `--${name} must be ${isWhole ? 'whole numbers' : 'a number'} above 0, got ${text}`,
  );
}
