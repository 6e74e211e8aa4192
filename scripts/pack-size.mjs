// Prints what the repository and the package weigh, in bytes of their files.
//   node scripts/pack-size.mjs           the totals and the largest files
//   node scripts/pack-size.mjs --check   also fails where a limit is passed
import { execFileSync } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const limits = { tree: 34e6, goldens: 8e6 };
const shown = 5;

/** Files that git tracks or would track, with their sizes. */
function trackedFiles() {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const paths = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64e6 }).split('\0');
  return [...new Set(paths)].flatMap((path) => {
    const stat = path === '' ? undefined : lstatSync(join(root, path), { throwIfNoEntry: false });
    return stat?.isFile() ? [{ path, size: stat.size }] : [];
  });
}

function packedPackage() {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const output = execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64e6,
  });
  const [packed] = JSON.parse(output);
  return packed;
}

const sum = (files) => files.reduce((total, { size }) => total + size, 0);
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;

const files = trackedFiles();
const goldens = files.filter(({ path }) => path.startsWith('test/golden/packed/'));
const packed = packedPackage();
const totals = { tree: sum(files), goldens: sum(goldens) };

console.log(`tracked tree     ${megabytes(totals.tree)} in ${files.length} files, at most ${megabytes(limits.tree)}`);
console.log(
  `golden cases     ${megabytes(totals.goldens)} in ${goldens.length} files, at most ${megabytes(limits.goldens)}`,
);
console.log(
  `package          ${megabytes(packed.size)} to download, ${megabytes(packed.unpackedSize)} unpacked, ${packed.entryCount} files`,
);
for (const { path, size } of files.sort((a, b) => b.size - a.size).slice(0, shown))
  console.log(`  ${megabytes(size).padStart(10)}  ${path}`);

if (process.argv.includes('--check')) {
  const passed = Object.entries(limits).filter(([name, limit]) => totals[name] > limit);
  for (const [name, limit] of passed) console.error(`${name}: ${totals[name]} bytes, the limit is ${limit}`);
  if (passed.length > 0) process.exit(1);
}
