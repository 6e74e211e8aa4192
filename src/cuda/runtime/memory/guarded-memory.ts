// Device memory for tests: sentinels around each block, contents that are no number.
import type { BlockMemory } from '../../../backend/index.js';
import { viewAddress } from '../../../native/index.js';
import type { Stream } from '../stream.js';
import type { MemoryPool } from './memory-pool.js';
import type { PinnedBuffers } from './pinned-buffers.js';

const guardBytes = 512;
const guardByte = 0xa5;
const poisonByte = 0xff;

interface Guarded {
  readonly base: number;
  readonly bytes: number;
  readonly room: number;
}

/** Blocks between sentinels, filled with ones in every bit: NaN in the float dtypes. Every look waits for the device. */
export class GuardedMemory implements BlockMemory {
  readonly #pool: MemoryPool;
  readonly #stream: Stream;
  readonly #blocks = new Map<number, Guarded>();
  /** Blocks that no look has reached yet: only these can have been written beside since the last one. */
  readonly #fresh = new Set<number>();
  readonly #damage: string[] = [];
  readonly #buffers: PinnedBuffers;

  constructor(pool: MemoryPool, stream: Stream, buffers: PinnedBuffers) {
    this.#pool = pool;
    this.#stream = stream;
    this.#buffers = buffers;
  }

  allocate(bytes: number): number {
    if (bytes === 0) return 0;
    const room = Math.ceil(bytes / guardBytes) * guardBytes + 2 * guardBytes;
    const base = this.#pool.allocate(room);
    const address = base + guardBytes;
    this.#stream.fill(base, guardByte, guardBytes);
    this.#stream.fill(address, poisonByte, bytes);
    this.#stream.fill(address + bytes, guardByte, room - guardBytes - bytes);
    this.#blocks.set(address, { base, bytes, room });
    this.#fresh.add(address);
    return address;
  }

  free(address: number): void {
    if (address === 0) return;
    const block = this.#blocks.get(address);
    if (!block) throw new Error(`address ${address} was not allocated here, or was freed before`);
    if (!this.#stream.isCapturing) this.#inspect(address, block);
    this.#blocks.delete(address);
    this.#fresh.delete(address);
    this.#pool.free(block.base);
  }

  /** One line for each sentinel overwritten beside a block that was made since the last call, or freed since. */
  strayWrites(): readonly string[] {
    for (const address of this.#fresh) {
      const block = this.#blocks.get(address);
      if (block) this.#inspect(address, block);
    }
    this.#fresh.clear();
    return this.#damage.splice(0);
  }

  #inspect(address: number, { base, bytes, room }: Guarded): void {
    for (const [where, start, count] of [
      ['before', base, guardBytes],
      ['after', address + bytes, room - guardBytes - bytes],
    ] as const) {
      const buffer = this.#buffers.take(count);
      this.#stream.copyToHost(buffer.address, start, count);
      this.#stream.drain();
      const changed = viewAddress(BigInt(buffer.address), count).filter((byte) => byte !== guardByte).length;
      this.#buffers.release(buffer);
      if (changed === 0) continue;
      this.#damage.push(`${changed} bytes ${where} a block of ${bytes}`);
      this.#stream.fill(start, guardByte, count);
    }
  }
}
