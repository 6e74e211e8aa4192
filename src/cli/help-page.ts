// The help of all commands as one Markdown page: docs/cli.md is made from it.
import type { Command } from 'commander';
import { createProgram } from './program.js';

/** The page. The width of the terminal does not matter. */
export function renderHelpPage(): string {
  const program = createProgram();
  const sections = program.commands
    .filter((command) => command.name() !== 'help')
    .flatMap((command) => renderSection(`orrery ${command.name()}`, command));
  return [
    '# The command line',
    '',
    'Made from `--help` by `node scripts/cli-docs.mjs`; edit the help, not this page.',
    ...renderSection('orrery', program),
    ...sections,
    '',
  ].join('\n');
}

function renderSection(title: string, command: Command): readonly string[] {
  let help = '';
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
    getOutHelpWidth: () => 100,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return ['', `## ${title}`, '', '```text', help.trimEnd(), '```'];
}
