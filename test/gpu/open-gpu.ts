// Opens the GPU for scripts: libraries are sought in the Python environment too, kernels kept in the system's temporary folder.
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CudaBackend, type CudaOptions, createCudaBackend } from '../../src/cuda/index.js';

/** `site-packages` of the Python on the path, where wheels put CUDA's libraries; nothing where there is none. */
export function pythonRoots(): string[] {
  try {
    const script =
      'import site, sysconfig; print("\\n".join([sysconfig.get_paths()["purelib"], *site.getsitepackages()]))';
    return [...new Set(execFileSync('python3', ['-c', script], { encoding: 'utf8' }).trim().split('\n'))];
  } catch {
    return [];
  }
}

export function openGpu(
  dtype: 'f32' | 'bf16',
  options: Omit<CudaOptions, 'device' | 'dtype' | 'libraryRoots' | 'cacheDir'> = {},
): CudaBackend {
  return createCudaBackend({
    dtype,
    libraryRoots: pythonRoots(),
    cacheDir: join(tmpdir(), 'orrery-kernels'),
    ...options,
  });
}
