// Shared libraries: opening them so that they stay, and declaring their functions with types read from the C signature.
import { loadFfi } from './ffi.js';
import { NativeError } from './native-error.js';

/** What may be passed where C wants a pointer: an address (bigint or safe integer), memory of ours, or null. */
export type Pointer = bigint | number | ArrayBufferView | ArrayBuffer | null;
/** 64-bit integers go in as either; they come back as a number where that is exact. */
export type Wide = number | bigint;

/** C types of arguments and the TypeScript types that they take. `uintptr_t` is an address, passed fastest as a number. */
interface ArgumentTypes {
  bool: boolean;
  int: number;
  int32_t: number;
  uint32_t: number;
  int64_t: Wide;
  uint64_t: Wide;
  size_t: Wide;
  uintptr_t: Wide;
  float: number;
  double: number;
  str: string | null;
  'void *': Pointer;
}

interface ResultTypes {
  void: undefined;
  bool: boolean;
  int: number;
  int32_t: number;
  uint32_t: number;
  int64_t: Wide;
  uint64_t: Wide;
  size_t: Wide;
  uintptr_t: Wide;
  float: number;
  double: number;
  str: string | null;
  'void *': bigint | null;
}

export type ArgumentType = keyof ArgumentTypes;
export type ResultType = keyof ResultTypes;

type Values<A extends readonly ArgumentType[]> = { [K in keyof A]: ArgumentTypes[A[K]] };

/** A declared C function. */
export type NativeFunction<R extends ResultType, A extends readonly ArgumentType[]> = (
  ...args: Values<A>
) => ResultTypes[R];

/** An opened shared library. It is never unloaded. */
export interface NativeLibrary {
  /** The name or path that was found. */
  readonly path: string;
  /** Whether the library exports the symbol. */
  has(symbol: string): boolean;
  /**
   * Declares a function: `declare('cblas_sgemm', 'void', ['int', …])`. Arguments are not checked by C: order and types are the caller's.
   * @throws NativeError when the library does not export it.
   */
  declare<const R extends ResultType, const A extends readonly ArgumentType[]>(
    symbol: string,
    result: R,
    args: A,
  ): NativeFunction<R, A>;
}

/** How a library is opened. */
export interface OpenOptions {
  /** Keep it mapped to the very end of the process: for libraries that run threads of their own. */
  readonly keep?: boolean;
}

// dlopen(3): RTLD_NOW | RTLD_NODELETE, whose second value differs on macOS.
const keepFlags = 2 | (process.platform === 'darwin' ? 0x80 : 0x1000);

function wrapLibrary(path: string, handle: ReturnType<ReturnType<typeof loadFfi>['load']>): NativeLibrary {
  return {
    path,
    has(symbol) {
      try {
        handle.symbol(symbol);
        return true;
      } catch {
        return false;
      }
    },
    declare(symbol, result, args) {
      try {
        return handle.func(symbol, result, [...args]);
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new NativeError(`cannot declare ${symbol} of ${path}: ${reason}`, { cause });
      }
    },
  };
}

/** The symbols that the process itself already has: the C library's among them. */
export function openProcess(): NativeLibrary {
  return wrapLibrary('(process)', loadFfi().load(null));
}

// An exit handler of the FFI package closes libraries while their threads still run; an extra reference that forbids unmapping prevents the crash.
function pinLibrary(name: string): void {
  if (process.platform === 'win32') return;
  const process_ = openProcess();
  const dlopen = process_.declare('dlopen', 'void *', ['str', 'int']);
  const dlerror = process_.declare('dlerror', 'str', []);
  if (dlopen(name, keepFlags) === null) throw new NativeError(dlerror() ?? `dlopen of ${name} failed`);
}

// A library that is there may still lack one of its own: then the loader names that one instead.
const isAbsent = (name: string, reason: string) =>
  reason
    .replace('Failed to load shared library: ', '')
    .replace(`${name}: `, '')
    .startsWith('cannot open shared object file: No such file');

/**
 * Opens the first of the given names or paths that loads.
 * @throws NativeError listing every name when none does: those that are not there, and the others with their reasons.
 */
export function openLibrary(names: string | readonly string[], options: OpenOptions = {}): NativeLibrary {
  const ffi = loadFfi();
  const absent: string[] = [];
  const reasons: string[] = [];
  for (const name of typeof names === 'string' ? [names] : names) {
    try {
      if (options.keep === true) pinLibrary(name);
      return wrapLibrary(name, ffi.load(name));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (isAbsent(name, reason)) absent.push(name);
      else reasons.push(reason.includes(name) ? reason : `${name}: ${reason}`);
    }
  }
  if (absent.length > 0) reasons.push(`not found: ${absent.join(', ')}`);
  throw new NativeError(`no library could be opened (${reasons.join('; ') || 'no name was given'})`);
}
