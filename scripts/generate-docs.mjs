// Writes the pages that are made from the sources: docs/flags.md, and the reference in docs/server.md.
//   --check   writes nothing, fails when a page is not what it would write
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const isCheck = process.argv.includes('--check');

execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--transpile'], { stdio: 'inherit' });
const load = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { renderFlagsPage } = await load('server/documents/flags-page.js');
const { renderReference } = await load('server/documents/reference-section.js');

/** The OpenAPI document of a server that is started for it. */
async function readOpenApi() {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-docs-'));
  const child = spawn(
    process.execPath,
    [join(root, 'dist/cli/main.js'), 'serve', '--port', '0', '--storage-path', folder, '--drain-timeout', '0'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  try {
    let text = '';
    const url = await new Promise((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (piece) => {
        text += piece;
        const [, found] = /"url":"([^"]+)"/.exec(text) ?? [];
        if (found) resolve(found);
      });
      child.once('exit', () => reject(new Error(`the server did not start:\n${text}`)));
    });
    return await (await fetch(`${url}/openapi.json`)).json();
  } finally {
    const ended = child.exitCode === null ? new Promise((resolve) => child.once('exit', resolve)) : null;
    child.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

const begin = '<!-- reference: made by scripts/generate-docs.mjs -->';
const end = '<!-- end of reference -->';

async function renderServerPage() {
  const text = readFileSync(join(root, 'docs/server.md'), 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/server.md has no place between ${begin} and ${end}`);
  return `${text.slice(0, from + begin.length)}\n\n${renderReference(await readOpenApi())}\n\n${text.slice(to)}`;
}

const pages = { 'docs/flags.md': renderFlagsPage(), 'docs/server.md': await renderServerPage() };
const stale = [];
for (const [path, text] of Object.entries(pages)) {
  let found = '';
  try {
    found = readFileSync(join(root, path), 'utf8');
  } catch {
    // Not there yet.
  }
  if (found === text) continue;
  stale.push(path);
  if (!isCheck) writeFileSync(join(root, path), text);
}
if (stale.length > 0) console.log(`${isCheck ? 'stale' : 'written'}: ${stale.join(', ')}`);
if (isCheck && stale.length > 0) {
  console.error('run: node scripts/generate-docs.mjs');
  process.exitCode = 1;
}
