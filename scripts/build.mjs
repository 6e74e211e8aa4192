// Builds the package into `dist/`: TypeScript by tsc, the CPU kernels by the AssemblyScript compiler. Skips what is up to date.
// In an installed package (no `src/`) there is nothing to build.
// The page of the browser is built by vite into `dist/web`.
//   --transpile   only strips types, file by file, without checking them: what tests use, since types have a check of their own;
//                 leaves the page as it is
//   --web         builds the page with --transpile too
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(import.meta.url);
const kernels = join(root, 'src/cpu/kernels');
const wasm = join(root, 'dist/cpu/kernels.wasm');

function run(script, ...args) {
  try {
    execFileSync(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });
  } catch {
    process.exit(1);
  }
}

function newest(folder) {
  return Math.max(...readdirSync(folder).map((name) => statSync(join(folder, name)).mtimeMs));
}

function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return path === kernels ? [] : sources(path);
    return /\.ts$/.test(path) && !/\.(test|d)\.ts$/.test(path) ? [path] : [];
  });
}

/** Transpiled files carry their source's time, so that a build beside this one cannot pass off an older source as newer. */
function isStale(source, target) {
  return !existsSync(target) || statSync(target).mtimeMs !== statSync(source).mtimeMs;
}

function transpile() {
  const stale = sources(join(root, 'src'))
    .map((source) => ({ source, target: join(root, 'dist', relative(join(root, 'src'), source)).replace(/ts$/, 'js') }))
    .filter(({ source, target }) => isStale(source, target));
  if (stale.length === 0) return;
  const ts = require('typescript');
  const { compilerOptions } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config;
  const options = { target: compilerOptions.target, module: 'esnext', verbatimModuleSyntax: true };
  for (const { source, target } of stale) {
    const { mtime } = statSync(source);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, ts.transpileModule(readFileSync(source, 'utf8'), { compilerOptions: options }).outputText);
    utimesSync(target, mtime, mtime);
  }
}

/** Type-checked compilation; skipped where the sources are those of the last one (`npx` in a checkout builds again otherwise). */
function compile() {
  const stamp = join(root, 'dist/.compiled');
  const inputs = [...sources(join(root, 'src')), join(root, 'tsconfig.json'), join(root, 'tsconfig.build.json')];
  const state = inputs.map((path) => `${relative(root, path)} ${statSync(path).mtimeMs}`).join('\n');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return;
  run(require.resolve('typescript/bin/tsc'), '-p', 'tsconfig.build.json');
  writeFileSync(stamp, state);
}

/** Every file that the page is made of, the protocol's own among them. */
function pageSources() {
  const files = (folder) =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return files(path);
      return /\.test\.tsx?$/.test(path) ? [] : [path];
    });
  return [...files(join(root, 'web')), ...sources(join(root, 'src/protocol')), join(root, 'package-lock.json')];
}

/** Lays a packed twin beside each file: the server sends it where the browser takes it. */
function compress(folder) {
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes));
  }
}

/** Bundles the page; skipped where its sources are those of the last one. */
async function bundlePage() {
  const stamp = join(root, 'dist/.page');
  const state = pageSources()
    .map((path) => `${relative(root, path)} ${statSync(path).mtimeMs}`)
    .join('\n');
  const isFresh = existsSync(join(root, 'dist/web/index.html')) && existsSync(stamp);
  if (isFresh && readFileSync(stamp, 'utf8') === state) return;
  const { build } = await import('vite');
  await build({ configFile: join(root, 'web/vite.config.mjs'), logLevel: 'warn' });
  compress(join(root, 'dist/web/assets'));
  writeFileSync(stamp, state);
}

if (existsSync(join(root, 'src'))) {
  mkdirSync(join(root, 'dist'), { recursive: true });
  if (process.argv.includes('--transpile')) transpile();
  else compile();
  if (existsSync(join(kernels, 'index.ts')) && (!existsSync(wasm) || statSync(wasm).mtimeMs < newest(kernels))) {
    mkdirSync(dirname(wasm), { recursive: true });
    const asc = join(dirname(require.resolve('assemblyscript/package.json')), 'bin/asc.js');
    run(asc, 'src/cpu/kernels/index.ts', '--config', 'src/cpu/kernels/asconfig.json', '--outFile', wasm);
  }
  // The CUDA kernels are compiled where they run.
  cpSync(join(root, 'src/cuda/kernels'), join(root, 'dist/cuda/kernels'), {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || /\.cuh?$/.test(path),
  });
  const main = join(root, 'dist/cli/main.js');
  if (existsSync(main)) chmodSync(main, 0o755);
  const wantsPage = !process.argv.includes('--transpile') || process.argv.includes('--web');
  if (wantsPage && existsSync(join(root, 'web'))) await bundlePage();
}
