// Where CUDA's libraries lie: what the system's loader knows, a toolkit's folder, the folders of Python wheels.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type NativeLibrary, openLibrary } from '../../native/index.js';

/** Folders below a root in which libraries lie: the root itself, a toolkit's, and the wheels' of CUDA 13 and 12. */
const folders: Readonly<Record<string, readonly string[]>> = {
  nvrtc: ['', 'lib64', 'lib', 'targets/x86_64-linux/lib', 'nvidia/cu13/lib', 'nvidia/cuda_nvrtc/lib'],
  'nvrtc-builtins': ['', 'lib64', 'lib', 'targets/x86_64-linux/lib', 'nvidia/cu13/lib', 'nvidia/cuda_nvrtc/lib'],
  cublasLt: ['', 'lib64', 'lib', 'targets/x86_64-linux/lib', 'nvidia/cu13/lib', 'nvidia/cublas/lib'],
  cudnn: ['', 'lib64', 'lib', 'nvidia/cudnn/lib'],
};

/** Roots tried after the caller's: where toolkits install themselves. */
const defaultRoots: readonly string[] = ['/usr/local/cuda', '/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu'];

const isLibrary = (file: string, name: string) => file.startsWith(`lib${name}.so`) && !file.endsWith('.a');

/** Full paths of a library below the roots, the caller's roots first, newest versions first within a folder. */
export function findLibrary(name: string, roots: readonly string[]): string[] {
  const found: string[] = [];
  for (const root of [...roots, ...defaultRoots])
    for (const folder of folders[name] ?? ['']) {
      const path = join(root, folder);
      if (!existsSync(path)) continue;
      const files = readdirSync(path).filter((file) => isLibrary(file, name));
      const newestFirst = files.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
      found.push(...newestFirst.map((file) => join(path, file)));
    }
  return found;
}

/**
 * Opens a library of CUDA and keeps it: below the given roots first, then by the names that the system's loader knows.
 * @throws NativeError naming every place that was tried.
 */
export function openCudaLibrary(
  name: string,
  roots: readonly string[],
  majors: readonly (number | string)[],
): NativeLibrary {
  const names = [...majors.map((major) => `lib${name}.so.${major}`), `lib${name}.so`];
  return openLibrary([...findLibrary(name, roots), ...names], { keep: true });
}
