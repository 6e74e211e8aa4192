// The command line: commands, help, and how it complains.
import { Command } from 'commander';
import { packageVersion } from '../engine/package-info.js';
import { addBenchCommand } from './commands/bench.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addConvertCommand } from './commands/flash/convert.js';
import { addDenoiseCommand } from './commands/flash/denoise.js';
import { addDumpCommand } from './commands/flash/dump.js';
import { addGenerateCommand, addPlanCommand } from './commands/generate.js';
import { addHelpCommand } from './commands/help.js';
import { addInspectCommand } from './commands/inspect.js';
import { addQualityCommand } from './commands/measure/quality.js';
import { addParityCommand } from './commands/parity.js';
import { addPullCommand } from './commands/pull.js';
import { addServeCommand } from './commands/serve.js';

const examples = `
Examples:
  orrery generate "A red ball rolls to the right." -o ball.mp4
  orrery generate "The scene comes to life." --image frame.jpg -o clip.mp4
  orrery generate "A street at night." --video day.mp4 --edge -o night.mp4
  orrery doctor

Exit codes: 0 done · 1 failed · 2 the request or the flags are wrong · 130 stopped by Ctrl-C.`;

/** Builds the whole command line; parsing it runs a command. */
export function createProgram(): Command {
  const program = new Command('orrery')
    .description(
      'World models on your own machine: clips, pictures, sound and robot actions from words, pictures and clips.',
    )
    .version(packageVersion(), '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .addHelpText('after', examples)
    .showSuggestionAfterError(true);
  addGenerateCommand(program);
  addPlanCommand(program);
  addServeCommand(program);
  addDenoiseCommand(program);
  addDumpCommand(program);
  addConvertCommand(program);
  addPullCommand(program);
  addInspectCommand(program);
  addDoctorCommand(program);
  addParityCommand(program);
  addQualityCommand(program);
  addBenchCommand(program);
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({
      outputError: (text, write) =>
        write(
          `${text.trim().replace(/\s*\n\s*/g, ' ')} (orrery ${command === program ? '' : `${command.name()} `}--help lists what there is)\n`,
        ),
    });
    command.helpOption('-h, --help', 'show help');
  }
  addHelpCommand(program);
  return program;
}
