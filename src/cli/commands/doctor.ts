// `orrery doctor`: what this machine has, and what it lacks.
import type { Command } from 'commander';
import colors from 'picocolors';
import type { Finding } from '../../engine/index.js';
import { printLine } from '../print.js';

const examples = `
Example:
  orrery doctor --json | jq '.[] | select(.status == "missing")'

Exit code 1 when something is missing that generation needs.`;

/** Adds the command. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('examine this machine: devices, libraries, ffmpeg, cache, memory')
    .option('--json', 'print one JSON array')
    .option('--debug', 'show stack traces')
    .addHelpText('after', examples)
    .action(async (flags: { readonly json?: boolean }) => {
      const { examineMachine } = await import('../../engine/index.js');
      const findings = await examineMachine();
      if (flags.json === true) printLine(JSON.stringify(findings));
      else for (const finding of findings) printFinding(finding);
      const missing = findings.filter(({ status }) => status === 'missing').map(({ name }) => name);
      if (missing.length > 0) throw new Error(`missing: ${missing.join(', ')}; see the lines above for what to do`);
    });
}

function printFinding({ name, status, value, remedy }: Finding): void {
  const mark = { ok: colors.green('ok'), note: colors.yellow('--'), missing: colors.red('!!') }[status];
  printLine(`${mark} ${name.padEnd(20)} ${value}`);
  if (remedy !== null) printLine(`   ${''.padEnd(20)} ${colors.dim(remedy)}`);
}
