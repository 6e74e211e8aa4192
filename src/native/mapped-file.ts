// Files as memory: mapped read-only where native calls work, read by ranges elsewhere.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { isFfiAvailable, loadFfi } from './ffi.js';
import { openProcess } from './library.js';
import { viewAddress } from './memory.js';
import { describeErrno, NativeError } from './native-error.js';

/** A file whose bytes are reached by offset. Dispose of it when no more views are made; views made before stay valid. */
export interface MappedFile extends Disposable {
  readonly path: string;
  /** Bytes of the file when it was opened. */
  readonly size: number;
  /** Native address of byte 0, or undefined where the file is read instead of mapped (or is empty). */
  readonly address: bigint | undefined;
  /**
   * Bytes [offset, offset + length): a view of the map (never write to it: that ends the process), or a copy where nothing is mapped.
   * @throws NativeError beyond the file's end and after dispose; the system's own error when a read fails.
   */
  view(offset: number, length: number): Uint8Array;
}

interface MapCalls {
  mmap(size: number, descriptor: number): bigint;
  munmap(address: bigint, size: number): void;
}

const PROT_READ = 1;
const MAP_PRIVATE = 2;
const mapFailed = 0xffffffffffffffffn;

let calls: MapCalls | undefined;

function mapCalls(): MapCalls {
  if (calls !== undefined) return calls;
  const libc = openProcess();
  const mmap = libc.declare('mmap', 'uintptr_t', ['uintptr_t', 'size_t', 'int', 'int', 'int', 'int64_t']);
  const munmap = libc.declare('munmap', 'int', ['uintptr_t', 'size_t']);
  calls = {
    mmap: (size, descriptor) => BigInt(mmap(0, size, PROT_READ, MAP_PRIVATE, descriptor, 0)),
    munmap: (address, size) => {
      munmap(address, size);
    },
  };
  return calls;
}

function checkRange(file: MappedFile, offset: number, length: number): void {
  const fits = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0;
  if (!fits || offset + length > file.size) {
    throw new NativeError(`${file.path}: bytes ${offset} to ${offset + length} lie outside its ${file.size} bytes`);
  }
}

class FileMap implements MappedFile {
  #disposed = false;
  #unmapped = false;
  #views = 0;
  // Unmapping under a live view would be a fault on its next read, so the map goes when the last view has been collected.
  readonly #collected = new FinalizationRegistry<undefined>(() => {
    this.#views--;
    this.#unmapWhenIdle();
  });

  constructor(
    readonly path: string,
    readonly size: number,
    readonly address: bigint,
  ) {}

  view(offset: number, length: number): Uint8Array {
    if (this.#disposed) throw new NativeError(`${this.path}: already closed; open it again to read from it`);
    checkRange(this, offset, length);
    const view = viewAddress(this.address + BigInt(offset), length);
    if (length > 0) {
      this.#views++;
      this.#collected.register(view.buffer, undefined);
    }
    return view;
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#unmapWhenIdle();
  }

  #unmapWhenIdle(): void {
    if (!this.#disposed || this.#unmapped || this.#views > 0) return;
    this.#unmapped = true;
    mapCalls().munmap(this.address, this.size);
  }
}

class FileRanges implements MappedFile {
  readonly address = undefined;
  #descriptor: number | undefined;

  constructor(
    readonly path: string,
    readonly size: number,
    descriptor: number,
  ) {
    this.#descriptor = descriptor;
  }

  view(offset: number, length: number): Uint8Array {
    if (this.#descriptor === undefined) {
      throw new NativeError(`${this.path}: already closed; open it again to read from it`);
    }
    checkRange(this, offset, length);
    const bytes = new Uint8Array(length);
    for (let done = 0; done < length; ) {
      // One read call moves at most 2 GiB.
      const count = readSync(this.#descriptor, bytes, done, Math.min(length - done, 1 << 30), offset + done);
      if (count === 0)
        throw new NativeError(
          `${this.path}: ended at byte ${offset + done}; it was ${this.size} bytes long when opened`,
        );
      done += count;
    }
    return bytes;
  }

  [Symbol.dispose](): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/**
 * Opens a file as memory. Opening costs address space, not memory: pages come in as views are read.
 * @param options.map false reads ranges even where the file could be mapped.
 * @throws the system's own error (`ENOENT`, `EACCES`, …) when it cannot be opened; NativeError when it cannot be mapped.
 */
export function mapFile(path: string, options: { readonly map?: boolean } = {}): MappedFile {
  const descriptor = openSync(path, 'r');
  let keepOpen = false;
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) throw new NativeError(`${path}: not a regular file`);
    const canMap = options.map !== false && process.platform !== 'win32' && isFfiAvailable();
    if (!canMap || status.size === 0) {
      keepOpen = true;
      return new FileRanges(path, status.size, descriptor);
    }
    const address = mapCalls().mmap(status.size, descriptor);
    if (address === mapFailed) {
      const errno = loadFfi().errno();
      throw new NativeError(`${path}: cannot map ${status.size} bytes: ${describeErrno(errno)}`, { errno });
    }
    return new FileMap(path, status.size, address);
  } finally {
    if (!keepOpen) closeSync(descriptor);
  }
}
