// The package as npm sees it: what installing it runs and downloads, what it ships, and under which licences.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './architecture/source-tree.js';

interface LockEntry {
  readonly version?: string;
  readonly license?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
}

interface Manifest {
  readonly name: string;
  readonly license?: string;
  readonly type?: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}

const manifest = readJson<Manifest>('package.json');
const lock = readJson<{ readonly packages: Readonly<Record<string, LockEntry>> }>('package-lock.json');
const locked = Object.entries(lock.packages).filter(([path, { link }]) => path.startsWith('node_modules/') && !link);
const nameOf = (path: string) => path.replace(/^.*node_modules\//, '');

describe('the lock file', () => {
  test('names no download addresses, so that any registry can serve it', () => {
    expect(locked.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
    expect(readFileSync(join(root, '.npmrc'), 'utf8')).toMatch(/^omit-lockfile-registry-resolved=true$/m);
  });

  test('has a checksum for every package', () => {
    expect(locked.length).toBeGreaterThan(50);
    expect(locked.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path)).toEqual([]);
  });

  test('agrees with package.json', () => {
    const { dependencies, devDependencies, optionalDependencies } = manifest;
    expect(lock.packages['']).toMatchObject({ dependencies, devDependencies, optionalDependencies });
  });
});

describe('installing', () => {
  test('runs nothing of ours but the build, which fetches nothing', () => {
    const { preinstall, install, postinstall, prepare } = manifest.scripts ?? {};
    expect({ preinstall, install, postinstall, prepare }).toEqual({ prepare: 'node scripts/build.mjs' });
    expect(readFileSync(join(root, 'scripts/build.mjs'), 'utf8')).not.toMatch(
      /https?:|fetch\(|node:(http|https|net|dns)/,
    );
  });

  test('needs no script of a dependency: those that have one carry their binary in a package', () => {
    const carried = /^(koffi|bufferutil|msgpackr-extract|fsevents|@ffmpeg-installer\/.+)$/;
    const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
    expect(scripted.filter((name) => !carried.test(name))).toEqual([]);
    const binaries = Object.keys(lock.packages).map(nameOf);
    expect(binaries).toEqual(expect.arrayContaining(['@koromix/koffi-linux-x64', '@ffmpeg-installer/linux-x64']));
  });
});

describe('package.json', () => {
  test('pins every direct dependency to one version', () => {
    const all = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.devDependencies };
    expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  test('says what it is', () => {
    expect(manifest).toMatchObject({
      name: 'orrery',
      license: 'Apache-2.0',
      type: 'module',
      engines: { node: '>=20.19' },
    });
    expect(manifest.files).toEqual(expect.arrayContaining(['dist', 'checkpoints', 'LICENSE']));
  });

  test('comes with its licence text', () => {
    expect(readFileSync(join(root, 'LICENSE'), 'utf8')).toMatch(/^\s+Apache License\n\s+Version 2\.0, January 2004/);
  });
});

/** Terms under which a dependency may come without a decision of its own. */
const freeLicences = new Set(['MIT', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'ISC', '0BSD']);

/** The exceptions: which packages, under what, and where that was decided. */
const exceptions: readonly {
  readonly packages: RegExp;
  readonly licences: RegExp;
  readonly only?: 'optional' | 'dev';
  readonly record: string;
}[] = [
  {
    packages: /^@ffmpeg-installer\//,
    licences: /^(GPLv3|LGPL-2\.1|https:\/\/git\.ffmpeg\.org\/.+LICENSE\.md)$/,
    only: 'optional',
    record: 'ffmpeg.md',
  },
  {
    packages: /^@img\/sharp-(libvips-|wasm32|win32-)/,
    licences: /^(Apache-2\.0 AND )?LGPL-3\.0-or-later( AND MIT)?$/,
    only: 'optional',
    record: 'sharp.md',
  },
  { packages: /^pako$/, licences: /^\(MIT AND Zlib\)$/, only: 'dev', record: 'permissive-licences.md' },
  { packages: /^lightningcss(-|$)/, licences: /^MPL-2\.0$/, only: 'dev', record: 'development-tools.md' },
  { packages: /^axe-core$/, licences: /^MPL-2\.0$/, only: 'dev', record: 'development-tools.md' },
];

function isFree(licence: string): boolean {
  return licence.split(' OR ').some((choice) => freeLicences.has(choice.replace(/[()]/g, '')));
}

/** Why a package may not be here, or null where it may. */
function objection(name: string, licence: string, { dev, optional }: LockEntry): string | null {
  if (isFree(licence)) return null;
  const exception = exceptions.find(({ packages, licences }) => packages.test(name) && licences.test(licence));
  if (!exception) return `${name} is under ${licence}`;
  const isConfined = { dev, optional };
  return exception.only === undefined || isConfined[exception.only]
    ? null
    : `${name} under ${licence} may only be ${exception.only}`;
}

describe('licences of dependencies', () => {
  test('are allowed, as the lock file states them', () => {
    const objections = locked.map(([path, entry]) => objection(nameOf(path), entry.license ?? 'no licence', entry));
    expect(objections.filter((reason) => reason !== null)).toEqual([]);
  });

  test('are allowed, as the installed packages state them', () => {
    const installed = locked.filter(([path]) => existsSync(join(root, path, 'package.json')));
    expect(installed.length).toBeGreaterThan(50);
    const objections = installed.map(([path, entry]) =>
      objection(nameOf(path), readJson<Manifest>(`${path}/package.json`).license ?? 'no licence', entry),
    );
    expect(objections.filter((reason) => reason !== null)).toEqual([]);
  });

  test('have a record for each exception', () => {
    for (const { record } of exceptions) expect(existsSync(join(root, 'docs/decisions', record)), record).toBe(true);
  });

  test('would be refused otherwise', () => {
    expect(objection('x', 'GPL-3.0', {})).toBe('x is under GPL-3.0');
    expect(objection('x', 'MIT OR GPL-3.0', {})).toBeNull();
    expect(objection('lightningcss', 'MPL-2.0', {})).toBe('lightningcss under MPL-2.0 may only be dev');
    expect(objection('lightningcss', 'MPL-2.0', { dev: true })).toBeNull();
  });
});
