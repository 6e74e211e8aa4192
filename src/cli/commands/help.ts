// `orrery help`: what --help says, of the program or a command.
import type { Command } from 'commander';
import { nearestName } from '../../protocol/index.js';

/** Adds the command, in place of the library's own, which answers an unknown name with the help of the program. */
export function addHelpCommand(program: Command): void {
  program
    .helpCommand(false)
    .command('help')
    .helpOption(false)
    .description('show help for a command')
    .argument('[command]')
    .action((name: string | undefined) => {
      const command = name === undefined ? program : program.commands.find((known) => known.name() === name);
      if (command !== undefined) return command.help();
      const names = program.commands.map((known) => known.name());
      const nearest = nearestName(String(name), names);
      const hint = nearest === undefined ? '' : ` (Did you mean ${nearest}?)`;
      return program.error(`error: unknown command '${name}'${hint}`);
    });
}
