// Which room may look at which: the table of the architecture, and the checks that hold imports against it.
import { importsOf, isProduct, isRelative, isTest, resolveImport, roomOf, type SourceTree } from './source-tree.js';

/** Rooms and what each may import besides itself. `index` is src/index.ts, the package's door. */
export const arrows: Readonly<Record<string, readonly string[]>> = {
  index: ['engine', 'protocol'],
  cli: ['server', 'engine', 'protocol'],
  server: ['engine', 'protocol', 'media'],
  engine: [
    'pipeline',
    'guardrails',
    'models',
    'weights',
    'tokenizer',
    'media',
    'protocol',
    'backend',
    'cpu',
    'cuda',
    'native',
  ],
  pipeline: ['models', 'weights', 'schedulers', 'tokenizer', 'media', 'protocol', 'backend'],
  guardrails: ['models', 'tokenizer', 'media', 'backend'],
  models: ['nn', 'weights', 'backend'],
  nn: ['weights', 'backend'],
  cpu: ['backend', 'native'],
  cuda: ['backend', 'native'],
  weights: ['backend', 'native'],
  backend: [],
  native: [],
  protocol: [],
  tokenizer: [],
  media: [],
  schedulers: [],
};

/** Rooms that one file alone may enter from outside: it picks the device. */
const devices = new Set(['cpu', 'cuda']);
const picksDevice = 'src/engine/loader.ts';

/** The engine reaches the FFI room for one thing, ending with its parent: docs/decisions/engine-native.md. */
const usesNative = 'src/engine/worker/';

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly line: number;
}

function* edges(tree: SourceTree): Generator<Edge> {
  for (const [path, text] of tree) {
    if (!isProduct(path)) continue;
    for (const { specifier, line, kind } of importsOf(path, text)) {
      if (kind === 'worker' || !isRelative(specifier)) continue;
      const to = resolveImport(tree, path, specifier);
      if (to) yield { from: path, to, line };
    }
  }
}

/** Imports between rooms along an arrow that the table does not have. */
export function findForbiddenArrows(tree: SourceTree): string[] {
  const found: string[] = [];
  for (const path of tree.keys())
    if (isProduct(path) && !(roomOf(path) in arrows)) found.push(`${path}: ${roomOf(path)} is not a room`);
  for (const { from, to, line } of edges(tree)) {
    const at = `${from}:${line}`;
    const [here, there] = [roomOf(from), roomOf(to)];
    if (isTest(to)) found.push(`${at} imports the test ${to}`);
    else if (!to.startsWith('src/')) found.push(`${at} imports ${to}, which is not part of the package`);
    else if (here !== there && !arrows[here]?.includes(there))
      found.push(`${at} imports ${to}: no arrow ${here} -> ${there}`);
    else if (here !== there && devices.has(there) && from !== picksDevice)
      found.push(`${at} imports ${to}: only ${picksDevice} picks a device`);
    else if (here === 'engine' && there === 'native' && !from.startsWith(usesNative))
      found.push(`${at} imports ${to}: in the engine only ${usesNative} makes process calls`);
    else {
      const [own, other] = [from, to].map((path) => /^src\/models\/([^/]+)\//.exec(path)?.[1]);
      if (other && here === 'models' && own !== other) found.push(`${at} imports ${to}: a model never calls another`);
    }
  }
  return found;
}

/** Relative imports that lead nowhere, and dynamic ones whose target cannot be read off. */
export function findLostImports(tree: SourceTree): string[] {
  const found: string[] = [];
  for (const [path, text] of tree) {
    if (!isProduct(path)) continue;
    for (const { specifier, line } of importsOf(path, text)) {
      if (specifier.startsWith('(')) found.push(`${path}:${line} imports a module that is ${specifier.slice(1, -1)}`);
      else if (isRelative(specifier) && !resolveImport(tree, path, specifier) && !isAsset(specifier))
        found.push(`${path}:${line} imports ${specifier}, which does not exist`);
    }
  }
  return found;
}

function isAsset(specifier: string): boolean {
  return /\.json$/.test(specifier);
}

/** Packages used against the rules: the FFI package outside its room, or a package that is not a run-time dependency. */
export function findForbiddenPackages(tree: SourceTree, dependencies: ReadonlySet<string>): string[] {
  const found: string[] = [];
  for (const [path, text] of tree) {
    if (!path.startsWith('src/') || !/\.ts$/.test(path)) continue;
    for (const { specifier, line } of importsOf(path, text)) {
      if (isRelative(specifier) || specifier.startsWith('(')) continue;
      const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
      if (name === 'koffi' && roomOf(path) !== 'native') found.push(`${path}:${line} imports koffi outside src/native`);
      else if (isProduct(path) && !name.startsWith('node:') && !dependencies.has(name))
        found.push(`${path}:${line} imports ${name}, which package.json does not list as a dependency`);
    }
  }
  return found;
}

/** Files that import each other in a circle, type imports counted: one line for each circle. */
export function findCycles(tree: SourceTree): string[] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of edges(tree)) targets.set(from, (targets.get(from) ?? new Set()).add(to));
  return circlesOf(targets);
}

/** Circles of a graph of files, each as a line. */
export function circlesOf(targets: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const walk = (path: string): void => {
    const start = trail.indexOf(path);
    if (start >= 0) found.push([...trail.slice(start), path].join(' -> '));
    if (start >= 0 || done.has(path)) return;
    trail.push(path);
    for (const next of targets.get(path) ?? []) walk(next);
    trail.pop();
    done.add(path);
  };
  for (const path of targets.keys()) walk(path);
  return found;
}
