// One run of the command line, from arguments to exit code.
import { CommanderError } from 'commander';
import { exitCodes } from './exit-codes.js';
import { createProgram } from './program.js';
import { printFailure, reportFailure } from './report-failure.js';

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
    const program = createProgram();
    // A flag behind an unknown command, --help above all, would be taken as the program's own.
    const [name = '-'] = args;
    const isKnown = name.startsWith('-') || program.commands.some((command) => command.name() === name);
    await program.parseAsync(isKnown ? [...args] : [name], { from: 'user' });
    // A command that ran through may still have found something wrong: `parity` with failed cases, for one.
    return typeof process.exitCode === 'number' ? process.exitCode : exitCodes.done;
  } catch (error) {
    const json = args.includes('--json');
    if (!(error instanceof CommanderError)) return reportFailure(error, { debug: args.includes('--debug'), json });
    if (error.exitCode === 0) return exitCodes.done;
    // The library has said it on stderr.
    if (json) printFailure(error);
    return exitCodes.usage;
  }
}
