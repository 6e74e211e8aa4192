// Measures what the small checkpoint makes: brings `dist/` up to date, strips the types of test/world into out/world beside a link to it,
// and runs it there.
//   node scripts/world.mjs --task text-to-video --scale 0.1
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildFirst } from './build-first.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const out = join(root, 'out/world');
const ts = createRequire(import.meta.url)('typescript');

function strip(folder) {
  mkdirSync(join(out, folder), { recursive: true });
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) strip(path);
    else if (/(?<!\.test)\.ts$/.test(entry.name)) {
      const compilerOptions = { target: 'es2022', module: 'esnext', verbatimModuleSyntax: true };
      const { outputText } = ts.transpileModule(readFileSync(join(root, path), 'utf8'), { compilerOptions });
      writeFileSync(join(out, path.replace(/ts$/, 'js')), outputText);
    }
  }
}

buildFirst(root);
rmSync(out, { recursive: true, force: true });
strip('test/world');
symlinkSync(join(root, 'dist'), join(out, 'src'));
writeFileSync(join(out, 'package.json'), '{ "type": "module" }\n');
const run = spawnSync(process.execPath, [join(out, 'test/world/run.js'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(run.status ?? 1);
