// The one memory of a CPU device: growing, shared between threads, handed out in aligned blocks.
import { OutOfMemoryError } from '../../backend/index.js';

const pageBytes = 65536;
const alignment = 64;
/** WebAssembly addresses 4 GiB; the last page stays free so that no end of a block is 2^32. */
const addressableBytes = 65535 * pageBytes;

/** Blocks below belong to the job board (`board.ts`) and to what the kernels' compiler places. */
export const heapStart = pageBytes;

interface Range {
  start: number;
  end: number;
}

export interface MemoryOptions {
  /** Bytes that may be handed out at most. */
  readonly limit?: number;
  /** For tests: keeps sentinels around each block and fills new blocks with NaN. */
  readonly probe?: boolean;
}

const sentinelBytes = 64;
const sentinelByte = 0xff; // NaN in every float dtype, so that a read over the edge shows as well

/** Hands out blocks by best fit, merges free neighbours, grows when nothing fits. Blocks are not cleared. */
export class DeviceMemory {
  readonly wasm: WebAssembly.Memory;
  readonly limit: number;
  readonly #free: Range[] = []; // by address
  readonly #blocks = new Map<number, number>(); // address to bytes asked for
  readonly #probe: boolean;
  readonly #damage: string[] = [];
  #end = heapStart;
  #used = 0;

  constructor(options: MemoryOptions = {}) {
    this.limit = Math.min(options.limit ?? addressableBytes, addressableBytes);
    this.#probe = options.probe ?? false;
    this.wasm = new WebAssembly.Memory({ initial: 2, maximum: 65536, shared: true });
  }

  /** Bytes handed out. */
  get used(): number {
    return this.#used;
  }

  /**
   * A block of at least `bytes` bytes, aligned to 64.
   * @throws OutOfMemoryError when no block of that size is left.
   */
  allocate(bytes: number): number {
    const margin = this.#probe ? sentinelBytes : 0;
    const size = Math.max(alignment, Math.ceil(bytes / alignment) * alignment) + 2 * margin;
    const at = this.#take(size);
    if (at === null) throw this.#outOfMemory(bytes);
    this.#used += size;
    this.#blocks.set(at + margin, bytes);
    if (this.#probe) new Uint8Array(this.wasm.buffer, at, size).fill(sentinelByte);
    return at + margin;
  }

  /** Whether `allocate` would succeed. */
  fits(bytes: number): boolean {
    return this.#largest() >= bytes + alignment + 2 * (this.#probe ? sentinelBytes : 0);
  }

  free(address: number): void {
    const bytes = this.#blocks.get(address);
    if (bytes === undefined) throw new Error(`no block at ${address}`);
    const margin = this.#probe ? sentinelBytes : 0;
    if (this.#probe) this.#inspect(address, bytes);
    this.#blocks.delete(address);
    const size = Math.max(alignment, Math.ceil(bytes / alignment) * alignment) + 2 * margin;
    this.#used -= size;
    this.#give({ start: address - margin, end: address - margin + size });
  }

  /** Sentinels found overwritten, one line each; empty unless made with `probe`. */
  damage(): readonly string[] {
    if (this.#probe) for (const [address, bytes] of this.#blocks) this.#inspect(address, bytes);
    return this.#damage.splice(0);
  }

  floats(address: number, count: number): Float32Array<SharedArrayBuffer> {
    return new Float32Array(this.wasm.buffer, address, count);
  }

  bytes(address: number, count: number): Uint8Array<SharedArrayBuffer> {
    return new Uint8Array(this.wasm.buffer, address, count);
  }

  #take(size: number): number | null {
    let best = -1;
    let bestSize = Number.POSITIVE_INFINITY;
    for (const [i, range] of this.#free.entries()) {
      const length = range.end - range.start;
      if (length >= size && length < bestSize) {
        best = i;
        bestSize = length;
      }
    }
    const range = this.#free[best];
    if (range) {
      const at = range.start;
      range.start += size;
      if (range.start === range.end) this.#free.splice(best, 1);
      return at;
    }
    // A free range at the end is extended, so that growing leaves no hole.
    const last = this.#free.at(-1);
    const start = last && last.end === this.#end ? last.start : this.#end;
    if (start + size > this.limit || !this.#grow(start + size)) return null;
    if (start !== this.#end) this.#free.pop();
    this.#end = start + size;
    return start;
  }

  #grow(end: number): boolean {
    // Vector reads may run a few bytes past the last block.
    const missing = end + alignment - this.wasm.buffer.byteLength;
    if (missing <= 0) return true;
    try {
      this.wasm.grow(Math.ceil(missing / pageBytes));
      return true;
    } catch {
      return false;
    }
  }

  #give(range: Range): void {
    let low = 0;
    let high = this.#free.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#free[middle] as Range).start < range.start) low = middle + 1;
      else high = middle;
    }
    const before = this.#free[low - 1];
    const after = this.#free[low];
    const joinsAfter = after !== undefined && after.start === range.end;
    if (before !== undefined && before.end === range.start) {
      before.end = joinsAfter ? after.end : range.end;
      if (joinsAfter) this.#free.splice(low, 1);
    } else if (joinsAfter) after.start = range.start;
    else this.#free.splice(low, 0, range);
  }

  #largest(): number {
    const last = this.#free.at(-1);
    const tail = this.limit - (last && last.end === this.#end ? last.start : this.#end);
    return this.#free.reduce((most, range) => Math.max(most, range.end - range.start), tail);
  }

  #outOfMemory(bytes: number): OutOfMemoryError {
    const free = Math.max(0, this.#largest());
    const size = `${(this.limit / 2 ** 30).toFixed(2)} GiB`;
    return new OutOfMemoryError(
      bytes,
      free,
      `The CPU device holds ${size} of activations, ${(this.#used / 2 ** 30).toFixed(2)} GiB are in use: ` +
        'ask for fewer frames or a smaller picture, so that no tensor is larger than what is free.',
    );
  }

  #inspect(address: number, bytes: number): void {
    const before = new Uint8Array(this.wasm.buffer, address - sentinelBytes, sentinelBytes);
    const after = new Uint8Array(this.wasm.buffer, address + bytes, sentinelBytes);
    for (const [where, view] of [
      ['before', before],
      ['after', after],
    ] as const) {
      if (view.every((byte) => byte === sentinelByte)) continue;
      this.#damage.push(`${view.filter((byte) => byte !== sentinelByte).length} bytes ${where} a block of ${bytes}`);
      view.fill(sentinelByte);
    }
  }
}
