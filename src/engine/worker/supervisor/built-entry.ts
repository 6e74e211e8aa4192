// Where the JavaScript of an entry lies: a process or thread cannot be started from TypeScript.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../package-info.js';

/** Absolute path of the worker process's entry. @throws Error when the package was not built */
export function builtWorkerEntry(): string {
  // Read off by the architecture test as an entry; from `src/` the built file lies elsewhere.
  const beside = fileURLToPath(new URL('../worker-main.js', import.meta.url));
  if (existsSync(beside)) return beside;
  const built = join(packageRoot(), 'dist/engine/worker/worker-main.js');
  if (existsSync(built)) return built;
  throw new Error(`${built} does not exist; build the package first (npm run build)`);
}
