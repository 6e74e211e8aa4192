// Brings `dist/` up to date for a script that runs what is in it, and says nothing where it is.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Ends the process where the build fails. */
export function buildFirst(root) {
  const script = join(root, 'scripts/build.mjs');
  const build = spawnSync(process.execPath, [script, '--transpile'], { cwd: root, encoding: 'utf8' });
  if (build.status === 0) return;
  process.stderr.write(build.stdout + build.stderr);
  process.exit(1);
}
