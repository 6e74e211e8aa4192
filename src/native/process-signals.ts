// Process calls: dying together with the parent.
import { constants } from 'node:os';
import { loadFfi } from './ffi.js';
import { openProcess } from './library.js';
import { describeErrno, NativeError } from './native-error.js';

const PR_SET_PDEATHSIG = 1;

/**
 * Asks the kernel to signal this process when its parent dies (Linux, prctl(2)); a worker calls it first thing.
 * @param expectedParent the parent's process id; when it has died before the call, the signal is sent at once.
 * @returns whether the platform can do it.
 * @throws NativeError when the kernel refuses.
 */
export function setParentDeathSignal(
  signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM',
  expectedParent: number = process.ppid,
): boolean {
  if (process.platform !== 'linux') return false;
  const prctl = openProcess().declare('prctl', 'int', ['int', 'uint64_t', 'uint64_t', 'uint64_t', 'uint64_t']);
  if (prctl(PR_SET_PDEATHSIG, constants.signals[signal], 0, 0, 0) !== 0) {
    const errno = loadFfi().errno();
    throw new NativeError(`prctl(PR_SET_PDEATHSIG, ${signal}) failed: ${describeErrno(errno)}`, { errno });
  }
  if (process.ppid !== expectedParent) process.kill(process.pid, signal);
  return true;
}
