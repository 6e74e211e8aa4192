// Runs the command line of this working tree: brings `dist/` up to date first, and says nothing where it is.
//   node scripts/run.mjs parity --golden test/golden/data
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildFirst } from './build-first.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

buildFirst(root);
// The golden cases of the repository lie packed.
if (process.argv[2] === 'parity') spawnSync(process.execPath, [join(root, 'scripts/goldens.mjs'), 'unpack']);
const run = spawnSync(process.execPath, [join(root, 'dist/cli/main.js'), ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exit(run.status ?? 1);
