// cuDNN as far as Orrery uses it: its presence and version.
import { openCudaLibrary } from './libraries.js';

export interface Cudnn {
  cudnnGetVersion(): number;
}

/** @throws NativeError naming every place that was tried. */
export function openCudnn(roots: readonly string[]): Cudnn {
  const { declare } = openCudaLibrary('cudnn', roots, [9]);
  const version = declare('cudnnGetVersion', 'size_t', []);
  return { cudnnGetVersion: () => Number(version()) };
}
