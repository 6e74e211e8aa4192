// Native memory seen from JavaScript and back: views of addresses, addresses of views.
import { constants } from 'node:buffer';
import { loadFfi } from './ffi.js';
import { NativeError } from './native-error.js';

/**
 * Bytes at a native address, shared and not copied. The memory must outlive the view; memory mapped read-only must not be written.
 * @param length bytes, at most the largest buffer of this Node (4 GiB on Node 20).
 * @throws NativeError for a null address or a length out of range (a longer view ends the process instead of throwing).
 */
export function viewAddress(address: bigint, length: number): Uint8Array {
  if (length === 0) return new Uint8Array(0);
  if (address <= 0n) throw new NativeError(`cannot view address ${address}: expected a positive address`);
  if (!Number.isSafeInteger(length) || length < 0 || length > constants.MAX_LENGTH) {
    throw new NativeError(
      `cannot view ${length} bytes at once: the limit of Node ${process.versions.node} is ${constants.MAX_LENGTH}; use several views`,
    );
  }
  return new Uint8Array(loadFfi().view(address, length));
}

/** Native address of a view's first byte, valid while the view is alive. */
export function addressOf(view: ArrayBufferView | ArrayBuffer): bigint {
  return loadFfi().address(view);
}
