// The one error that the native room throws, and the text of system error numbers.
import { getSystemErrorMap } from 'node:util';

/** A native call, library or mapping that failed. The message names what was tried, why it failed and the remedy. */
export class NativeError extends Error {
  override readonly name = 'NativeError';
  /** System error number (errno) where one was set. */
  readonly errno: number | undefined;

  constructor(message: string, options: { readonly errno?: number; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.errno = options.errno;
  }
}

/** `ENOENT: no such file or directory (2)` for 2; `error 9999` for a number that the system does not know. */
export function describeErrno(errno: number): string {
  const known = getSystemErrorMap().get(-errno);
  return known === undefined ? `error ${errno}` : `${known[0]}: ${known[1]} (${errno})`;
}
