// Rules on single files and folders: sizes, names, places of configuration, pairs of kernels, escape hatches of the type system.
import { posix } from 'node:path';
import ts from 'typescript';
import { isProduct, isTest, lineOf, parse, roomOf, type SourceTree, visit } from './source-tree.js';

/** Lines of a file, and of a network's file: anything under src/models or the kernels of a device. */
const lineLimit = 400;
const networkLineLimit = 600;
const folderLimit = 12;

function countLines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

/** Files that are too long to be read in one sitting. */
export function findLongFiles(tree: SourceTree): string[] {
  return [...tree].flatMap(([path, text]) => {
    // All texts of the page in a language stand in one file, so that a translation is one more.
    const isLong = /^(src\/models|web\/src\/texts)\//.test(path) && !isTest(path);
    const limit = isLong ? networkLineLimit : lineLimit;
    const lines = countLines(text);
    return lines > limit ? [`${path} has ${lines} lines, the limit is ${limit}: split it`] : [];
  });
}

/** Folders of src/ with too many files beside each other. A kernel and its launcher count as one. */
export function findCrowdedFolders(tree: SourceTree): string[] {
  const folders = new Map<string, Set<string>>();
  for (const path of tree.keys()) {
    if (!path.startsWith('src/') || isTest(path)) continue;
    const folder = posix.dirname(path);
    folders.set(folder, (folders.get(folder) ?? new Set()).add(path.replace(/\.(ts|cu)$/, '')));
  }
  return [...folders].flatMap(([folder, files]) =>
    files.size > folderLimit
      ? [`${folder} has ${files.size} files, the limit is ${folderLimit}: make a folder in it`]
      : [],
  );
}

const forbiddenNames = /^(utils?|helpers?|common|misc|managers?|base|core)$/;
const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Files and folders whose name says nothing, or is not kebab-case. */
export function findForbiddenNames(tree: SourceTree): string[] {
  const found: string[] = [];
  for (const path of tree.keys()) {
    if (path.endsWith('/common.cuh')) continue;
    const isPython = path.endsWith('.py');
    const parts = path.split('/');
    for (const [i, part] of parts.entries()) {
      const stem = i === parts.length - 1 ? part.replace(/(\.config|\.d|(\.[a-z-]+)?\.test)?\.[a-z]+$/, '') : part;
      const lastWord = stem.split(/[-_]/).at(-1) ?? '';
      if (forbiddenNames.test(stem) || forbiddenNames.test(lastWord))
        found.push(`${path}: ${stem} says nothing about what it is`);
      else if (!isPython && !kebabCase.test(stem)) found.push(`${path}: ${stem} is not kebab-case`);
    }
  }
  return found;
}

/** Kernels without the file that launches them. */
export function findLonelyKernels(tree: SourceTree): string[] {
  return [...tree.keys()]
    .filter((path) => path.endsWith('.cu') && !tree.has(path.replace(/\.cu$/, '.ts')))
    .map((path) => `${path} has no ${posix.basename(path, '.cu')}.ts beside it`);
}

/** Reads or writes of the environment outside the file that owns configuration. */
export function findEnvironmentUse(tree: SourceTree): string[] {
  const found: string[] = [];
  for (const [path, text] of tree) {
    if (!isProduct(path) || path === 'src/engine/config.ts') continue;
    visit(parse(path, text), (node) => {
      const isAccess =
        ts.isPropertyAccessExpression(node) &&
        node.name.text === 'env' &&
        /^(globalThis\.)?process$/.test(node.expression.getText());
      const isIndexed = ts.isElementAccessExpression(node) && node.expression.getText() === 'process';
      const isImported =
        ts.isImportDeclaration(node) &&
        /['"](node:)?process['"]/.test(node.moduleSpecifier.getText()) &&
        /\benv\b/.test(node.importClause?.getText() ?? '');
      const isTaken =
        ts.isVariableDeclaration(node) &&
        ts.isObjectBindingPattern(node.name) &&
        node.initializer?.getText() === 'process' &&
        /\benv\b/.test(node.name.getText());
      if (isAccess || isIndexed || isImported || isTaken)
        found.push(`${path}:${lineOf(node)} uses the environment; only src/engine/config.ts does`);
    });
  }
  return found;
}

/** Networks and pipelines that name a device. */
export function findNamedDevices(tree: SourceTree): string[] {
  const found: string[] = [];
  for (const [path, text] of tree) {
    if (!isProduct(path) || !['nn', 'models', 'pipeline'].includes(roomOf(path))) continue;
    visit(parse(path, text), (node) => {
      if (ts.isStringLiteralLike(node) && /^(cpu|cuda)$/i.test(node.text))
        found.push(`${path}:${lineOf(node)} names the device ${node.text}`);
    });
  }
  return found;
}

/** Ways around the type checker and the linter. */
export function findEscapeHatches(tree: SourceTree): string[] {
  const found: string[] = [];
  for (const [path, text] of tree) {
    if (!/\.tsx?$/.test(path)) continue;
    for (const [i, line] of text.split('\n').entries())
      if (/(\/\/|\/\*|\*)\s*(@ts-(ignore|nocheck|expect-error)|biome-ignore)/.test(line))
        found.push(`${path}:${i + 1} silences a checker`);
    visit(parse(path, text), (node) => {
      if (
        ts.isAsExpression(node) &&
        ts.isAsExpression(node.expression) &&
        node.expression.type.kind === ts.SyntaxKind.UnknownKeyword
      )
        found.push(`${path}:${lineOf(node)} casts through unknown`);
    });
  }
  return found;
}

/** Source files that do not begin with a comment saying what they are. A unit test beside its file is told by its name. */
export function findUnintroducedFiles(tree: SourceTree): string[] {
  return [...tree].flatMap(([path, text]) => {
    const isUnitTest = isTest(path) && /^(web\/)?src\//.test(path);
    const isCode = !isUnitTest && /^(src|test|scripts|web\/src)\/.*\.(ts|tsx|mjs|cu|cuh|css)$/.test(path);
    return isCode && !/^(#!.*\n)?\s*(\/\/|\/\*)/.test(text) ? [`${path} does not begin with what it is`] : [];
  });
}
