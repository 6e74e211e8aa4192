// Errors of the CUDA room: a call that failed, a kernel that did not compile.

/** A call of the driver or a library that failed. */
export class CudaError extends Error {
  override readonly name = 'CudaError';
  /** @param call the function's name · @param code what it returned · @param text the library's own words. */
  constructor(
    readonly call: string,
    readonly code: number,
    text: string,
  ) {
    super(`${call} failed with ${code}: ${text}`);
  }
}

/** Kernel source that the runtime compiler refused. */
export class KernelCompileError extends Error {
  override readonly name = 'KernelCompileError';
  constructor(
    readonly file: string,
    readonly log: string,
  ) {
    super(`${file} does not compile:\n${log.trim()}`);
  }
}
