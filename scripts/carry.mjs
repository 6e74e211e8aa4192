// Packs what a bare machine with a GPU needs to run Orrery from a copy of this tree into the folder .carry/:
// a stripped Node, the packages that sources import, and sources, op cases and test/world as plain JavaScript. Prints what each weighs.
//   node scripts/carry.mjs            everything; Node and packages only where they changed
//   node scripts/carry.mjs --code     the JavaScript alone
// There, `.carry/run FILE …` unpacks on first use (it needs python3) and runs FILE below .carry/app with that Node:
//   .carry/run test/world/run.js --device cuda --task text-to-image,policy      (tasks that make clips need an ffmpeg there)
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const carry = join(root, '.carry');
const app = join(carry, 'app');
const limitBytes = 64 * 2 ** 20;
const ts = createRequire(import.meta.url)('typescript');

/** Packages that only run on other machines, or that nothing there uses. */
const leftOut = /^(@ffmpeg-installer|libsql|@libsql|mirada|.*(musl|darwin|win32|arm|riscv|ppc64|s390x|wasm32))/;
const needless =
  /(^|\/)(doc|docs|vendor|test|tests|example|examples|musl_x64)\/|\.(d\.ts|d\.mts|d\.cts|map|md|c|cc|cpp|h|hh|inc)$/;

function files(folder, keep = () => true) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return keep(`${entry.name}/`) ? files(path, keep) : [];
    return keep(entry.name) ? [path] : [];
  });
}

const sizeOf = (paths) => paths.reduce((sum, path) => sum + statSync(path).size, 0);
const mebibytes = (bytes) => `${(bytes / 2 ** 20).toFixed(2)} MiB`;

/** Sources and tests without their types, beside the files they read. */
function packCode() {
  rmSync(app, { recursive: true, force: true });
  const { compilerOptions } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config;
  const options = { target: compilerOptions.target, module: 'esnext', verbatimModuleSyntax: true };
  const isTest = (name) => name.endsWith('.test.ts') || name.endsWith('.d.ts');
  for (const folder of ['src', 'test/backend', 'test/cuda', 'test/gpu', 'test/world', 'scripts'])
    for (const path of files(join(root, folder), (name) => name !== 'kernels.wasm' && !isTest(name))) {
      const place = relative(root, path);
      if (place.startsWith('src/cpu/kernels/')) continue;
      const to = join(app, place);
      mkdirSync(dirname(to), { recursive: true });
      if (!path.endsWith('.ts')) copyFileSync(path, to);
      else
        writeFileSync(
          to.replace(/ts$/, 'js'),
          ts.transpileModule(readFileSync(path, 'utf8'), { compilerOptions: options }).outputText,
        );
    }
  const wasm = join(root, 'dist/cpu/kernels.wasm');
  if (existsSync(wasm)) copyFileSync(wasm, join(app, 'src/cpu/kernels.wasm'));
  copyFileSync(join(root, 'package.json'), join(app, 'package.json'));
  // The tree that travels has these already.
  if (existsSync(join(root, 'checkpoints'))) symlinkSync('../../checkpoints', join(app, 'checkpoints'));
  if (existsSync(join(root, 'test/golden'))) symlinkSync('../../../test/golden', join(app, 'test/golden'));
}

/** Packages that sources name, and what those depend on. */
function neededPackages() {
  const found = new Set();
  const add = (name, from) => {
    const nested = join(from, 'node_modules', name);
    const folder = existsSync(nested) ? nested : join(root, 'node_modules', name);
    if (leftOut.test(name) || found.has(folder) || !existsSync(folder)) return;
    found.add(folder);
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json')));
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) add(dependency, folder);
  };
  for (const path of files(join(root, 'src'), (name) => name !== 'server/'))
    if (path.endsWith('.ts') && !path.endsWith('.test.ts'))
      for (const [, name] of readFileSync(path, 'utf8').matchAll(
        /(?:from|import|import\(|require\(|\)\()\s*'((?:@[\w.-]+\/)?[\w][\w.-]*)(?:\/[^']*)?'/g,
      ))
        add(name, root);
  return [...found].sort();
}

function packPackages() {
  const packages = neededPackages();
  const list = packages.flatMap((folder) =>
    files(folder, (name) => name !== 'node_modules/')
      .map((path) => relative(join(root, 'node_modules'), path))
      .filter((path) => path.startsWith('koffi/index') || !needless.test(path.replace(/^(@[^/]+\/)?[^/]+\//, ''))),
  );
  const key = createHash('sha256')
    .update(list.map((path) => `${path} ${statSync(join(root, 'node_modules', path)).size}`).join('\n'))
    .digest('hex');
  const mark = join(carry, 'modules.key');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === key) return packages.length;
  const names = join(carry, 'modules.list');
  writeFileSync(names, list.join('\n'));
  execFileSync('tar', ['-cJf', join(carry, 'modules.tar.xz'), '-C', join(root, 'node_modules'), '-T', names], {
    env: { ...process.env, XZ_OPT: '-6 -T0' },
  });
  rmSync(names);
  writeFileSync(mark, key);
  return packages.length;
}

function packNode() {
  const packed = join(carry, 'node.xz');
  if (existsSync(packed) && statSync(packed).mtimeMs > statSync(process.execPath).mtimeMs) return;
  const plain = join(carry, 'node');
  copyFileSync(process.execPath, plain);
  chmodSync(plain, 0o755);
  execFileSync('strip', ['--strip-all', plain]);
  // Machine code packs better with its jumps made absolute.
  execFileSync('xz', ['--x86', '--lzma2=preset=6,dict=64MiB', '-f', plain]);
}

const starter = `#!/bin/sh
# Runs a file below app/ with the Node that lies here; unpacks both on first use.
here=$(cd "$(dirname "$0")" && pwd)
home=\${ORRERY_CARRY:-/tmp/orrery-carry}
if [ ! -x "$home/node" ]; then
  mkdir -p "$home/node_modules"
  python3 - "$here" "$home" <<'END'
import lzma, os, shutil, sys, tarfile
here, home = sys.argv[1:]
with lzma.open(here + '/node.xz') as packed, open(home + '/node.part', 'wb') as plain:
    shutil.copyfileobj(packed, plain)
tarfile.open(here + '/modules.tar.xz').extractall(home + '/node_modules')
os.chmod(home + '/node.part', 0o755)
os.rename(home + '/node.part', home + '/node')
END
fi
ln -sfn "$home/node_modules" "$here/node_modules"
file=$1
shift
exec "$home/node" "$here/app/$file" "$@"
`;

mkdirSync(carry, { recursive: true });
packCode();
if (!process.argv.includes('--code')) {
  packNode();
  console.log(`${packPackages()} packages`);
}
writeFileSync(join(carry, 'run'), starter);
chmodSync(join(carry, 'run'), 0o755);

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64e6,
})
  .split('\0')
  .filter((path) => path !== '' && existsSync(join(root, path)))
  .map((path) => join(root, path));
const parts = {
  node: ['node.xz'],
  packages: ['modules.tar.xz'],
  code: files(app).map((path) => relative(carry, path)),
};
let total = sizeOf(tracked);
console.log(`tree      ${mebibytes(total)} in ${tracked.length} files`);
for (const [name, paths] of Object.entries(parts)) {
  const bytes = sizeOf(paths.map((path) => join(carry, path)).filter((path) => existsSync(path)));
  total += bytes;
  console.log(`${name.padEnd(9)} ${mebibytes(bytes)}`);
}
console.log(`total     ${mebibytes(total)} of ${mebibytes(limitBytes)}`);
if (total > limitBytes) {
  console.error('too much to carry: leave packages out, or thin the tree');
  process.exitCode = 1;
}
