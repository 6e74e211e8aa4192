// Looks for the libraries that a GPU device needs: in the linker's cache, the usual folders, CUDA installations and Python wheels.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A library that was looked for. */
export interface FoundLibrary {
  readonly name: string;
  /** Null when it is nowhere. */
  readonly path: string | null;
}

const wanted = ['libcuda.so', 'libnvrtc.so', 'libcublasLt.so', 'libcudnn.so', 'libnccl.so'] as const;
const wheels = ['cuda_nvrtc', 'cublas', 'cudnn', 'nccl'];

/**
 * Finds the libraries.
 * @param roots folders to look into besides the system's: CUDA installations, Python environments, library paths
 */
export async function findGpuLibraries(roots: readonly string[]): Promise<readonly FoundLibrary[]> {
  const cache = await readLinkerCache();
  const folders = [...roots, '/usr/local/cuda'].flatMap((root) => [
    root,
    join(root, 'lib64'),
    join(root, 'lib'),
    ...wheelFolders(root),
  ]);
  return wanted.map((name) => ({ name, path: cache.find((path) => isNamed(path, name)) ?? findIn(folders, name) }));
}

function isNamed(path: string, name: string): boolean {
  const file = path.slice(path.lastIndexOf('/') + 1);
  return file === name || file.startsWith(`${name}.`);
}

function findIn(folders: readonly string[], name: string): string | null {
  for (const folder of folders) {
    const file = listFolder(folder).find((entry) => isNamed(entry, name));
    if (file !== undefined) return join(folder, file);
  }
  return null;
}

function wheelFolders(root: string): readonly string[] {
  const libraries = listFolder(join(root, 'lib')).filter((name) => name.startsWith('python3'));
  return libraries.flatMap((python) => {
    const nvidia = join(root, 'lib', python, 'site-packages', 'nvidia');
    return wheels.map((wheel) => join(nvidia, wheel, 'lib'));
  });
}

function listFolder(path: string): readonly string[] {
  try {
    return existsSync(path) ? readdirSync(path) : [];
  } catch {
    return [];
  }
}

async function readLinkerCache(): Promise<readonly string[]> {
  for (const program of ['ldconfig', '/sbin/ldconfig']) {
    try {
      const { stdout } = await promisify(execFile)(program, ['-p'], { maxBuffer: 16 * 2 ** 20 });
      return stdout.split('\n').flatMap((line) => /=> (\/\S+)/.exec(line)?.[1] ?? []);
    } catch {
      // Not every system has it; the folders are looked into anyway.
    }
  }
  return [];
}
