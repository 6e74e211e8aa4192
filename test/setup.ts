// Before any test: unpack the golden cases and bring the built package up to date (workers and command-line tests run it).
import { execFileSync } from 'node:child_process';
import { writeSmallCheckpoint } from './small-checkpoint.js';

export default function setup(): void {
  execFileSync(process.execPath, ['scripts/goldens.mjs', 'unpack'], { stdio: 'inherit' });
  writeSmallCheckpoint();
  execFileSync(process.execPath, ['scripts/build.mjs', '--transpile'], { stdio: 'inherit' });
}
