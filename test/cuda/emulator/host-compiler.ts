// The emulator: compiles kernels with the host's C++ compiler and runs their launches on the fake driver's memory.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KernelCompileError } from '../../../src/cuda/ffi/errors.js';
import { kernelFolder } from '../../../src/cuda/kernels/sources.js';
import type { Compiler } from '../../../src/cuda/runtime/compiler.js';
import { type NativeFunction, openLibrary } from '../../../src/native/index.js';
import type { FakeLaunch } from '../fake-driver.js';

const here = fileURLToPath(new URL('.', import.meta.url));

type Emulate = NativeFunction<'int', readonly ['uintptr_t', 'uint32_t', 'uint32_t', 'uint32_t', 'uint32_t']>;

/** Whether the host has a C++ compiler for x86-64. */
export function hasHostCompiler(): boolean {
  if (process.arch !== 'x64') return false;
  try {
    execFileSync('g++', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A compiler whose images are paths of shared libraries, one for each kernel and set of defines, kept in `folder`. */
export function createHostCompiler(folder: string): Compiler {
  mkdirSync(folder, { recursive: true });
  const prelude = readFileSync(join(here, 'cuda-on-host.h'), 'utf8') + readFileSync(join(here, 'entry.inc'), 'utf8');
  return {
    version: 'host',
    compile({ file, source, headers }, options) {
      const defines = options.filter((option) => option.startsWith('-D'));
      const entries = [...source.matchAll(/__global__ void (?:__launch_bounds__\(\w+\) )?(\w+)\(/g)].map(
        ([, name]) => name ?? '',
      );
      const paths = entries.map((entry) => {
        const key = createHash('sha256')
          .update(JSON.stringify([prelude, source, headers, defines, entry]))
          .digest('hex')
          .slice(0, 24);
        const library = join(folder, `${key}.so`);
        if (existsSync(library)) return `${entry}=${library}`;
        const unit = join(folder, `${key}.cpp`);
        const kernels = fileURLToPath(kernelFolder());
        writeFileSync(unit, `#line 1 "${file}"\n${source}\n#include "${join(here, 'entry.inc')}"\n`);
        const include = [kernels, join(kernels, 'rows')].flatMap((path) => ['-I', path]);
        const own = `${library}.${process.pid}`;
        const flags = ['-std=c++17', '-O1', '-fno-strict-aliasing', '-ffp-contract=off', '-w', '-shared', '-fPIC'];
        try {
          execFileSync(
            'g++',
            [
              ...flags,
              '-include',
              join(here, 'cuda-on-host.h'),
              ...include,
              ...defines,
              `-DENTRY=${entry}`,
              unit,
              '-o',
              own,
            ],
            { stdio: 'pipe' },
          );
        } catch (error) {
          const log = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
          throw new KernelCompileError(`${file} (${defines.join(' ')})`, log);
        }
        renameSync(own, library);
        return `${entry}=${library}`;
      });
      return Buffer.from(paths.join('\n'));
    },
  };
}

/** Runs launches of kernels that the host compiler built. */
export function createHostRunner(): (launch: FakeLaunch) => void {
  const loaded = new Map<string, Emulate>();
  return ({ module, kernel, grid, block, parameters }) => {
    const path = module
      .split('\n')
      .find((line) => line.startsWith(`${kernel}=`))
      ?.slice(kernel.length + 1);
    if (path === undefined) throw new Error(`no ${kernel} in ${module}`);
    const emulate =
      loaded.get(path) ??
      openLibrary(path).declare('emulate', 'int', ['uintptr_t', 'uint32_t', 'uint32_t', 'uint32_t', 'uint32_t']);
    loaded.set(path, emulate);
    emulate(parameters, grid[0], grid[1], grid[2], block);
  };
}
