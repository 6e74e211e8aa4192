// The repository's sources as the architecture rules see them: text by path, and each TypeScript file parsed once.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** The repository's root folder, absolute. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** File contents by path from the root, with forward slashes. */
export type SourceTree = ReadonlyMap<string, string>;

/** One place in a file that names another module. */
export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** `worker`: a URL of a file run elsewhere; it is an entry, not an import. */
  readonly kind: 'import' | 'worker';
}

const folders = ['src', 'test', 'scripts', 'tools', 'web/src'];
const skippedFolders = new Set(['node_modules', 'dist', 'data', 'packed', '__pycache__']);
const sourceName = /\.(ts|tsx|mjs|js|css|py|cu|cuh)$/;

function* walk(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !skippedFolders.has(entry.name)) yield* walk(path);
    else if (entry.isFile() && sourceName.test(entry.name)) yield path;
  }
}

/** Reads every source file of the repository. */
export function readSourceTree(): SourceTree {
  const tree = new Map<string, string>();
  for (const folder of folders) {
    try {
      for (const path of walk(join(root, folder)))
        tree.set(relative(root, path).split(sep).join('/'), readFileSync(path, 'utf8'));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
  return tree;
}

export function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path);
}

/** TypeScript of the package itself: under src/, tests not counted. */
export function isProduct(path: string): boolean {
  return /^src\/.*\.ts$/.test(path) && !isTest(path);
}

const parsed = new Map<string, ts.SourceFile>();

/** The file's syntax tree, with parents. */
export function parse(path: string, text: string): ts.SourceFile {
  const known = parsed.get(path);
  if (known?.text === text) return known;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  parsed.set(path, file);
  return file;
}

export function lineOf(node: ts.Node): number {
  const file = node.getSourceFile();
  return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
}

/** Visits a node and everything below it. */
export function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

const unreadable = '(not a literal)';

function isImportMetaUrl(node: ts.Node | undefined): boolean {
  return node?.getText() === 'import.meta.url';
}

function calledModule(call: ts.CallExpression): ts.Node | null {
  const callee = call.expression;
  const isImport = callee.kind === ts.SyntaxKind.ImportKeyword;
  const isRequire = /^(require|require\.resolve|import\.meta\.resolve)$/.test(callee.getText());
  const isMadeRequire = ts.isCallExpression(callee) && callee.expression.getText() === 'createRequire';
  return isImport || isRequire || isMadeRequire ? (call.arguments[0] ?? call) : null;
}

const importLists = new WeakMap<ts.SourceFile, readonly Import[]>();

/** Every module that a file names: static, type-only, dynamic and `require`d imports, exports from, and worker URLs. */
export function importsOf(path: string, text: string): readonly Import[] {
  const file = parse(path, text);
  const known = importLists.get(file);
  if (known) return known;
  const found: Import[] = [];
  importLists.set(file, found);
  const add = (named: ts.Node, kind: Import['kind'] = 'import') =>
    found.push({
      specifier: ts.isStringLiteralLike(named) ? named.text : unreadable,
      line: lineOf(named),
      kind,
    });
  visit(file, (node) => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier);
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier) add(node.moduleSpecifier);
    else if (ts.isExternalModuleReference(node)) add(node.expression);
    else if (ts.isImportTypeNode(node))
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : node.argument);
    else if (ts.isCallExpression(node)) {
      const named = calledModule(node);
      if (named) add(named);
    } else if (ts.isNewExpression(node) && node.expression.getText() === 'URL') {
      const [named, base] = node.arguments ?? [];
      if (named && isImportMetaUrl(base) && ts.isStringLiteralLike(named) && /\.[jt]s$/.test(named.text))
        add(named, 'worker');
    }
  });
  return found;
}

/** Whether the specifier names a file of the repository; all others name packages. */
export function isRelative(specifier: string): boolean {
  return specifier.startsWith('.');
}

/** The file that a relative specifier means, or null where there is none. */
export function resolveImport(tree: SourceTree, from: string, specifier: string): string | null {
  const target = posix.join(posix.dirname(from), specifier);
  const candidates = [target.replace(/\.js$/, '.ts'), target, `${target}.ts`, `${target}/index.ts`];
  return candidates.find((path) => tree.has(path)) ?? null;
}

/** The room a product file lives in: the folder below src/, or `index` for src/index.ts itself. */
export function roomOf(path: string): string {
  const [, room = ''] = path.split('/');
  return room.replace(/\.ts$/, '');
}
