// One run of the command line, from arguments to exit code.
import { CommanderError } from 'commander';
import { exitCodes } from './exit-codes.js';
import { createProgram } from './program.js';
import { reportFailure } from './report-failure.js';

/**
 * Runs the command line.
 * @param args arguments after the program's name
 * @returns the exit code; every error has been reported
 */
export async function run(args: readonly string[]): Promise<number> {
  // A reader that closes the pipe early (`| head`) is no failure.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(exitCodes.done);
    });
  }
  try {
    await createProgram().parseAsync([...args], { from: 'user' });
    // A command that ran through may still have found something wrong: `parity` with failed cases, for one.
    return typeof process.exitCode === 'number' ? process.exitCode : exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    return reportFailure(error, { debug: args.includes('--debug'), json: args.includes('--json') });
  }
}
