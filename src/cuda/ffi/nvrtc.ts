// The runtime compiler NVRTC, under NVIDIA's names. Source: NVRTC documentation of CUDA 13.0.
import { openLibrary } from '../../native/index.js';
import { findLibrary, openCudaLibrary } from './libraries.js';

export interface Nvrtc {
  nvrtcVersion(major: Int32Array, minor: Int32Array): number;
  nvrtcGetErrorString(result: number): string | null;
  /** `headers` and `includeNames` hold addresses of C strings. */
  nvrtcCreateProgram(
    program: BigUint64Array,
    source: Uint8Array,
    name: string,
    headerCount: number,
    headers: BigUint64Array,
    includeNames: BigUint64Array,
  ): number;
  nvrtcDestroyProgram(program: BigUint64Array): number;
  /** `options` holds addresses of C strings. */
  nvrtcCompileProgram(program: number, optionCount: number, options: BigUint64Array): number;
  nvrtcGetProgramLogSize(program: number, size: BigUint64Array): number;
  nvrtcGetProgramLog(program: number, log: Uint8Array): number;
  nvrtcGetCUBINSize(program: number, size: BigUint64Array): number;
  nvrtcGetCUBIN(program: number, image: Uint8Array): number;
}

/**
 * Opens the compiler. A wheel's copy does not find its builtins by itself, so they are opened first, by full path.
 * @throws NativeError naming every place that was tried.
 */
export function openNvrtc(roots: readonly string[]): Nvrtc {
  const builtins = findLibrary('nvrtc-builtins', roots);
  if (builtins.length > 0) openLibrary(builtins, { keep: true });
  const { declare } = openCudaLibrary('nvrtc', roots, [13, 12]);
  return {
    nvrtcVersion: declare('nvrtcVersion', 'int', ['void *', 'void *']),
    nvrtcGetErrorString: declare('nvrtcGetErrorString', 'str', ['int']),
    nvrtcCreateProgram: declare('nvrtcCreateProgram', 'int', ['void *', 'void *', 'str', 'int', 'void *', 'void *']),
    nvrtcDestroyProgram: declare('nvrtcDestroyProgram', 'int', ['void *']),
    nvrtcCompileProgram: declare('nvrtcCompileProgram', 'int', ['uintptr_t', 'int', 'void *']),
    nvrtcGetProgramLogSize: declare('nvrtcGetProgramLogSize', 'int', ['uintptr_t', 'void *']),
    nvrtcGetProgramLog: declare('nvrtcGetProgramLog', 'int', ['uintptr_t', 'void *']),
    nvrtcGetCUBINSize: declare('nvrtcGetCUBINSize', 'int', ['uintptr_t', 'void *']),
    nvrtcGetCUBIN: declare('nvrtcGetCUBIN', 'int', ['uintptr_t', 'void *']),
  };
}
