// Before any test: unpack the golden cases and bring the built package up to date (workers and command-line tests run it).
import { execFileSync } from 'node:child_process';

export default function setup(): void {
  execFileSync(process.execPath, ['scripts/goldens.mjs', 'unpack'], { stdio: 'inherit' });
  execFileSync(process.execPath, ['scripts/build.mjs', '--transpile'], { stdio: 'inherit' });
}
