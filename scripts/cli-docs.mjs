// Writes docs/cli.md from the help of the command line.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
spawnSync(process.execPath, [join(root, 'scripts/build.mjs'), '--transpile'], { stdio: 'inherit' });
const { renderHelpPage } = await import(pathToFileURL(join(root, 'dist/cli/help-page.js')).href);
writeFileSync(join(root, 'docs/cli.md'), renderHelpPage());
