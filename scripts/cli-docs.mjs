// Writes docs/cli.md from the help of the built command line; `--check` only says whether it is up to date.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const file = join(root, 'docs/cli.md');

function help(...command) {
  const env = { ...process.env, NO_COLOR: '1', COLUMNS: '100' };
  const run = spawnSync(process.execPath, [join(root, 'dist/cli/main.js'), ...command, '--help'], { encoding: 'utf8', env });
  if (run.status !== 0) throw new Error(`orrery ${command.join(' ')} --help: ${run.stderr}`);
  return run.stdout.trimEnd();
}

const main = help();
const section = main.slice(main.indexOf('Commands:'));
const commands = [...section.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name).filter((name) => name !== 'help');
const blocks = [
  ['orrery', main],
  ...commands.filter((name) => name !== 'orrery').map((name) => [`orrery ${name}`, help(name)]),
];
const page = [
  '# The command line',
  '',
  'Made from `--help` by `node scripts/cli-docs.mjs`; edit the help, not this page.',
  ...blocks.flatMap(([title, text]) => ['', `## ${title}`, '', '```text', text, '```']),
  '',
].join('\n');

if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== page) {
    console.error('docs/cli.md is stale: run node scripts/cli-docs.mjs');
    process.exit(1);
  }
} else writeFileSync(file, page);
