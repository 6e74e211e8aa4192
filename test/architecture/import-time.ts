// Work at import time: what a module does merely by being imported. Declarations and plain data are no work.
import ts from 'typescript';
import {
  type Import,
  importsOf,
  isProduct,
  isRelative,
  lineOf,
  parse,
  resolveImport,
  type SourceTree,
} from './source-tree.js';

/** Globals that reach outside the module's own data. */
const actingGlobals = new Set([
  ...['process', 'console', 'performance', 'Date', 'fetch', 'WebAssembly', 'Worker', 'SharedArrayBuffer', 'Atomics'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'Promise', 'require'],
]);

/** Packages and built-in modules whose functions only make values. */
const pureModules = new Set(['typebox', 'node:path', 'node:url', 'node:util', 'node:module']);

/** The leftmost name of `a.b(c).d`, or null where it begins with a literal. */
function rootName(node: ts.Expression): ts.Identifier | null {
  if (ts.isIdentifier(node)) return node;
  if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) return rootName(node.expression);
  if (ts.isCallExpression(node) || ts.isNonNullExpression(node) || ts.isAsExpression(node))
    return rootName(node.expression);
  if (ts.isParenthesizedExpression(node) || ts.isSatisfiesExpression(node)) return rootName(node.expression);
  return null;
}

/** Names bound by imports of modules whose functions act: packages and built-in modules that are not listed as pure. */
function actingNames(file: ts.SourceFile): Set<string> {
  const names = new Set(actingGlobals);
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const from = statement.moduleSpecifier.text;
    if (from.startsWith('.') || pureModules.has(from)) continue;
    const clause = statement.importClause;
    if (clause?.name) names.add(clause.name.text);
    const bindings = clause?.namedBindings;
    if (bindings && ts.isNamespaceImport(bindings)) names.add(bindings.name.text);
    else for (const { name } of bindings?.elements ?? []) names.add(name.text);
  }
  return names;
}

/** Functions of the module by name: calling one of them runs its body. */
function declaredFunctions(file: ts.SourceFile): Map<string, ts.Node> {
  const functions = new Map<string, ts.Node>();
  for (const statement of file.statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name && statement.body)
      functions.set(statement.name.text, statement.body);
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name, initializer } of statement.declarationList.declarations)
      if (
        ts.isIdentifier(name) &&
        initializer &&
        (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer))
      )
        functions.set(name.text, initializer.body);
  }
  return functions;
}

/** Files that are run, not imported: the package's command, worker threads and processes, and what a URL is made of. */
export function findEntries(tree: SourceTree): Set<string> {
  const entries = new Set([...tree.keys()].filter((path) => /^src\/(cli\/main|(.+\/)?(.+-)?worker)\.ts$/.test(path)));
  for (const { from, specifier, kind } of importsOfProduct(tree)) {
    const target = kind === 'worker' ? resolveImport(tree, from, specifier) : null;
    if (target) entries.add(target);
  }
  return entries;
}

function* importsOfProduct(tree: SourceTree): Generator<Import & { readonly from: string }> {
  for (const [path, text] of tree)
    if (isProduct(path)) for (const named of importsOf(path, text)) yield { ...named, from: path };
}

/** Imports of a file that is meant to be run: they would run it. */
export function findImportedEntries(tree: SourceTree): string[] {
  const entries = findEntries(tree);
  return [...importsOfProduct(tree)].flatMap(({ from, specifier, line, kind }) => {
    const target = kind === 'import' && isRelative(specifier) ? resolveImport(tree, from, specifier) : null;
    return target && entries.has(target) ? [`${from}:${line} imports ${target}, which is meant to be run`] : [];
  });
}

/**
 * Top-level statements that act: loops, bare calls, awaits, and calls that reach outside the module's own data, also
 * through functions of the same file. Calls of imported functions of ours in an initialiser count as making data.
 */
export function findImportTimeWork(tree: SourceTree): string[] {
  const entries = findEntries(tree);
  return [...tree].flatMap(([path, text]) =>
    isProduct(path) && !entries.has(path) && !path.startsWith('src/cpu/kernels/')
      ? workIn(parse(path, text)).map(({ node, what }) => `${path}:${lineOf(node)} ${what} at import time`)
      : [],
  );
}

interface Work {
  readonly node: ts.Node;
  readonly what: string;
}

function workIn(file: ts.SourceFile): Work[] {
  const found: Work[] = [];
  const acting = actingNames(file);
  const functions = declaredFunctions(file);
  const entered = new Set<string>();

  const look = (node: ts.Node): void => {
    if (ts.isTypeNode(node)) return;
    // A callback runs with the call it is given to; a function that is only declared does not run.
    if (ts.isFunctionLike(node) && !isArgument(node)) return;
    if (ts.isAwaitExpression(node)) found.push({ node, what: 'awaits' });
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const name = rootName(node.expression)?.text ?? '';
      const body = functions.get(name);
      if (acting.has(name)) found.push({ node, what: `calls ${node.expression.getText(file).slice(0, 60)}` });
      else if (body && !entered.has(name)) {
        entered.add(name);
        look(body);
      }
    }
    ts.forEachChild(node, look);
  };

  for (const statement of file.statements) {
    if (acts(statement)) found.push({ node: statement, what: `runs \`${firstLine(statement)}\`` });
    else if (ts.isClassDeclaration(statement)) {
      for (const member of statement.members) {
        if (ts.isClassStaticBlockDeclaration(member)) found.push({ node: member, what: 'runs a static block' });
        if (ts.isPropertyDeclaration(member) && member.initializer && isStatic(member)) look(member.initializer);
      }
    } else if (ts.isVariableStatement(statement) || ts.isExportAssignment(statement)) look(statement);
  }
  return found;
}

function acts(statement: ts.Statement): boolean {
  return (
    ts.isExpressionStatement(statement) ||
    ts.isIterationStatement(statement, false) ||
    ts.isIfStatement(statement) ||
    ts.isTryStatement(statement) ||
    ts.isThrowStatement(statement)
  );
}

function firstLine(node: ts.Node): string {
  return (node.getText().split('\n')[0] ?? '').slice(0, 60);
}

function isStatic(member: ts.PropertyDeclaration): boolean {
  return ts.getModifiers(member)?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword) ?? false;
}

function isArgument(node: ts.Node): boolean {
  return ts.isCallExpression(node.parent) && node.parent.arguments.some((argument) => argument === node);
}
