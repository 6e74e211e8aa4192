// Runs the command line of this working tree: brings `dist/` up to date first, and says nothing where it is.
//   node scripts/run.mjs parity --golden test/golden/data
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const build = spawnSync(process.execPath, [join(root, 'scripts/build.mjs'), '--transpile'], {
  cwd: root,
  encoding: 'utf8',
});
if (build.status !== 0) {
  process.stderr.write(build.stdout + build.stderr);
  process.exit(1);
}
const run = spawnSync(process.execPath, [join(root, 'dist/cli/main.js'), ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exit(run.status ?? 1);
