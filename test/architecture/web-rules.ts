// The page's own rules: it looks at the protocol alone, its areas look one way, and it asks for nothing but the server.

import ts from 'typescript';
import { circlesOf } from './arrows.js';
import { importsOf, isRelative, isTest, lineOf, parse, resolveImport, type SourceTree, visit } from './source-tree.js';

/** Areas of web/src and what each may import besides itself. `main` starts the page. */
export const webArrows: Readonly<Record<string, readonly string[]>> = {
  main: ['app', 'store', 'texts', 'watch', 'styles', 'ui'],
  app: ['make', 'watch', 'see', 'keep', 'operate', 'store', 'ui', 'texts'],
  make: ['watch', 'store', 'ui', 'texts', 'app', 'protocol'],
  watch: ['see', 'store', 'ui', 'texts', 'app', 'protocol'],
  see: ['store', 'ui', 'texts', 'app', 'protocol'],
  keep: ['store', 'ui', 'texts', 'app', 'protocol'],
  operate: ['store', 'ui', 'texts', 'app', 'protocol'],
  store: ['texts', 'protocol'],
  ui: ['texts'],
  texts: [],
  styles: [],
};

/** Files of app/ that the views may use: addresses, and how a view is fetched. The shell itself stays above them. */
const openToViews = new Set(['web/src/app/router.tsx', 'web/src/app/lazy-view.tsx']);

/** Packages that run in the browser. */
const packages = new Set(['preact', 'preact/hooks', 'preact/compat', '@preact/signals', 'typebox']);

function isPage(path: string): boolean {
  return /^web\/src\/.*\.tsx?$/.test(path) && !isTest(path);
}

function areaOf(path: string): string {
  if (path.startsWith('src/protocol/')) return 'protocol';
  return (path.split('/')[2] ?? '').replace(/\.tsx?$/, '');
}

/** Source of a page's import: TypeScript with or without markup, or a style. */
function resolvePageImport(tree: SourceTree, from: string, specifier: string): string | null {
  const found = resolveImport(tree, from, specifier);
  if (found) return found;
  return resolveImport(tree, from, specifier.replace(/\.js$/, '.tsx'));
}

/** Imports of the page that the table does not have. */
export function findWebTrespasses(tree: SourceTree): string[] {
  const found: string[] = [];
  for (const [path, text] of tree) {
    if (!isPage(path)) continue;
    const here = areaOf(path);
    if (!(here in webArrows)) found.push(`${path}: ${here} is no area of the page`);
    for (const { specifier, line } of importsOf(path, text)) {
      const at = `${path}:${line}`;
      if (!isRelative(specifier)) {
        if (!packages.has(specifier)) found.push(`${at} imports ${specifier}, which is not for the page`);
        continue;
      }
      const to = resolvePageImport(tree, path, specifier);
      if (to === null) found.push(`${at} imports ${specifier}, which does not exist`);
      else if (to.startsWith('src/') && !/^src\/protocol\/(index|client\/\w[\w-]*)\.ts$/.test(to))
        found.push(`${at} imports ${to}: the page sees the protocol's door and client alone`);
      else if (areaOf(to) !== here && !webArrows[here]?.includes(areaOf(to)))
        found.push(`${at} imports ${to}: no arrow ${here} -> ${areaOf(to)}`);
      else if (areaOf(to) === 'app' && here !== 'app' && here !== 'main' && !openToViews.has(to))
        found.push(`${at} imports ${to}: of app a view uses the router alone`);
      else if (isTest(to)) found.push(`${at} imports the test ${to}`);
    }
  }
  return found;
}

/** Files of the page that import each other in a circle, through views that are fetched later too. */
export function findWebCycles(tree: SourceTree): string[] {
  const targets = new Map<string, Set<string>>();
  for (const [path, text] of tree) {
    if (!isPage(path)) continue;
    const imports = importsOf(path, text).filter(({ specifier }) => isRelative(specifier));
    targets.set(path, new Set(imports.flatMap(({ specifier }) => resolvePageImport(tree, path, specifier) ?? [])));
  }
  return circlesOf(targets);
}

/** Addresses of other servers, and keys kept beyond the tab. */
export function findForeignAddresses(tree: SourceTree): string[] {
  const found: string[] = [];
  for (const [path, text] of tree) {
    if (!isPage(path)) continue;
    visit(parse(path, text), (node) => {
      if (!ts.isStringLiteralLike(node) && !ts.isTemplateHead(node)) return;
      if (/^(https?|wss?):\/\/(?!(localhost|127\.0\.0\.1|HOST)\b)/.test(node.text) && !/w3\.org/.test(node.text))
        found.push(`${path}:${lineOf(node)} names ${node.text.slice(0, 60)}: the page asks for nothing but its server`);
    });
  }
  return found;
}

/** Texts that stand in the markup instead of the file of texts. */
export function findLooseTexts(tree: SourceTree): string[] {
  const found: string[] = [];
  for (const [path, text] of tree) {
    if (!isPage(path) || !path.endsWith('.tsx')) continue;
    visit(parse(path, text), (node) => {
      if (ts.isJsxText(node) && /\p{L}{2,}/u.test(node.text))
        found.push(`${path}:${lineOf(node)} says ${JSON.stringify(node.text.trim())}: texts stand in web/src/texts`);
      const isNamed = ts.isJsxAttribute(node) && /^(label|title|alt|placeholder|aria-label)$/.test(node.name.getText());
      if (
        isNamed &&
        node.initializer &&
        ts.isStringLiteral(node.initializer) &&
        /\p{L}{2,}/u.test(node.initializer.text)
      )
        found.push(`${path}:${lineOf(node)} says ${node.initializer.getText()}: texts stand in web/src/texts`);
    });
  }
  return found;
}
