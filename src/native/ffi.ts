// The door to the FFI package: loaded on first use, with the size of its stack set before the first library.
import { createRequire } from 'node:module';
import type * as Koffi from 'koffi';
import { NativeError } from './native-error.js';

export type Ffi = typeof Koffi;

// Runtime compilers, convolution heuristics and drivers overrun the package's 2 MiB.
const stackBytes = 16 << 20;

let loaded: Ffi | undefined;
let failure: NativeError | undefined;

function isKoffi(module: unknown): module is Ffi {
  return typeof module === 'object' && module !== null && 'load' in module && 'view' in module;
}

/**
 * The FFI package, loaded once per thread.
 * @throws NativeError when its binary for this platform is missing; the message says how to install it.
 */
export function loadFfi(): Ffi {
  if (loaded !== undefined) return loaded;
  if (failure !== undefined) throw failure;
  try {
    const koffi: unknown = createRequire(import.meta.url)('koffi');
    if (!isKoffi(koffi)) throw new TypeError('the module has neither load nor view');
    koffi.config({ ...koffi.config(), sync_stack_size: stackBytes });
    loaded = koffi;
    return koffi;
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
    failure = new NativeError(
      `cannot load koffi on ${process.platform}-${process.arch}: ${reason}; ` +
        `install it with its optional packages (npm install koffi --include=optional)`,
      { cause },
    );
    throw failure;
  }
}

/** Whether native calls work here. Never throws. */
export function isFfiAvailable(): boolean {
  try {
    loadFfi();
    return true;
  } catch {
    return false;
  }
}
