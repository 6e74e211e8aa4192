// Checks the built package's types as a program that installed it sees them: the TypeScript examples of the documentation, compiled
// against `dist` by the package's name, strictly, with each way of resolving modules. Needs a whole build.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { ModuleKind, ModuleResolutionKind, ScriptTarget } = ts;
const ways = {
  node16: { module: ModuleKind.Node16, moduleResolution: ModuleResolutionKind.Node16 },
  bundler: { module: ModuleKind.ESNext, moduleResolution: ModuleResolutionKind.Bundler },
};

/** Fenced blocks that open with `ts run`, each under its place. */
function examples() {
  const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', ...docs.map((name) => `docs/${name}`)].flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    return [...text.matchAll(/^```ts run\n([\s\S]*?)^```$/gm)].map(([, code = ''], i) => ({ page, i, code }));
  });
}

function check(folder, files, way) {
  const options = {
    ...ways[way],
    target: ScriptTarget.ES2022,
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const program = ts.createProgram(files, options);
  const host = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => folder, getNewLine: () => '\n' };
  const found = ts.getPreEmitDiagnostics(program);
  console.log(`${way}: ${files.length} programs, ${found.length} errors`);
  if (found.length > 0) console.error(ts.formatDiagnostics(found, host));
  return found.length;
}

if (!existsSync(join(root, 'dist/index.d.ts'))) {
  console.error('dist has no types: run "npm run build"');
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), 'orrery-types-'));
try {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/orrery'), 'dir');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const files = examples().map(({ page, i, code }) => {
    const file = join(folder, `${page.replace(/\W/g, '-')}-${i + 1}.ts`);
    writeFileSync(file, code);
    return file;
  });
  if (files.length === 0) throw new Error('the documentation has no example in TypeScript');
  const errors = Object.keys(ways).map((way) => check(folder, files, way));
  if (errors.some((count) => count > 0)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
