// Device memory in blocks: large segments from the driver, cut and joined again, with exact accounting and high-water marks.
import { OutOfMemoryError } from '../../../backend/index.js';
import { CUresult } from '../../ffi/driver.js';
import { type Device, firstOf } from '../device.js';

/** Blocks begin at multiples of this, bytes: what vector loads and tensor maps want. */
export const blockAlignment = 512;

/** Segments are at least this large, so that small tensors share one. */
const smallSegment = 2 << 20;
const largeSegment = 32 << 20;
/** Blocks from this size on get segments of their own, rounded up to `smallSegment`. */
const ownSegmentFrom = 16 << 20;

interface Block {
  readonly segment: Segment;
  start: number;
  bytes: number;
  free: boolean;
  previous: Block | null;
  next: Block | null;
}

interface Segment {
  readonly address: number;
  readonly bytes: number;
  first: Block | null;
}

/** Bytes now and at most so far. `reserved` is what the driver gave, `allocated` what tensors hold. */
export interface MemoryUse {
  readonly allocated: number;
  readonly reserved: number;
  readonly peakAllocated: number;
  readonly peakReserved: number;
}

/** Counts what several pools of one device hold together. */
export class MemoryLedger {
  #allocated = 0;
  #reserved = 0;
  #peakAllocated = 0;
  #peakReserved = 0;

  get use(): MemoryUse {
    return {
      allocated: this.#allocated,
      reserved: this.#reserved,
      peakAllocated: this.#peakAllocated,
      peakReserved: this.#peakReserved,
    };
  }

  /** Bytes given out, or with a minus given back. */
  allocate(bytes: number): void {
    this.#allocated += bytes;
    this.#peakAllocated = Math.max(this.#peakAllocated, this.#allocated);
  }

  /** Bytes taken from the driver, or with a minus given back to it. */
  reserve(bytes: number): void {
    this.#reserved += bytes;
    this.#peakReserved = Math.max(this.#peakReserved, this.#reserved);
  }

  resetPeaks(): void {
    this.#peakAllocated = this.#allocated;
    this.#peakReserved = this.#reserved;
  }
}

export class MemoryPool implements Disposable {
  readonly #device: Device;
  readonly #used = new Map<number, Block>();
  readonly #free = new Set<Block>();
  readonly #segments = new Set<Segment>();
  readonly #reclaim: () => void;
  readonly #own = new MemoryLedger();
  readonly #shared: MemoryLedger;

  /**
   * @param reclaim called when the driver has no more; gives back what others keep for reuse
   * @param shared counts this pool together with others
   */
  constructor(device: Device, reclaim: () => void = () => {}, shared = new MemoryLedger()) {
    this.#device = device;
    this.#reclaim = reclaim;
    this.#shared = shared;
  }

  get use(): MemoryUse {
    return this.#own.use;
  }

  /**
   * The address of `bytes` with undefined contents; 0 for no bytes.
   * @throws OutOfMemoryError when the driver has no room even after everything unused was given back.
   */
  allocate(bytes: number): number {
    if (bytes === 0) return 0;
    const size = Math.ceil(bytes / blockAlignment) * blockAlignment;
    const block = this.#take(size) ?? this.#cut(this.#newSegment(size), size);
    this.#used.set(block.start, block);
    this.#countAllocated(block.bytes);
    return block.start;
  }

  /** Gives a block back. Work enqueued before may still use it: work that gets it next is enqueued later. */
  free(address: number): void {
    if (address === 0) return;
    const block = this.#used.get(address);
    if (!block) throw new Error(`address ${address} was not allocated here, or was freed before`);
    this.#used.delete(address);
    this.#countAllocated(-block.bytes);
    this.#release(block);
  }

  /** Bytes of the block at an address. */
  sizeOf(address: number): number {
    return this.#used.get(address)?.bytes ?? 0;
  }

  /** Gives segments that hold nothing back to the driver. */
  trim(): void {
    for (const segment of [...this.#segments]) {
      const { first } = segment;
      if (!first?.free || first.next) continue;
      this.#free.delete(first);
      this.#segments.delete(segment);
      this.#countReserved(-segment.bytes);
      this.#device.check('cuMemFree', this.#device.driver.cuMemFree(segment.address));
    }
  }

  resetPeaks(): void {
    this.#own.resetPeaks();
  }

  [Symbol.dispose](): void {
    for (const segment of this.#segments) this.#device.driver.cuMemFree(segment.address);
    this.#segments.clear();
    this.#used.clear();
    this.#free.clear();
    const { reserved, allocated } = this.#own.use;
    this.#countReserved(-reserved);
    this.#countAllocated(-allocated);
  }

  #countAllocated(bytes: number): void {
    this.#own.allocate(bytes);
    this.#shared.allocate(bytes);
  }

  #countReserved(bytes: number): void {
    this.#own.reserve(bytes);
    this.#shared.reserve(bytes);
  }

  /** The smallest free block that fits; large blocks are not cut for small tensors, which would keep their segments. */
  #take(size: number): Block | null {
    let best: Block | null = null;
    for (const block of this.#free) {
      if (block.bytes < size || (best && block.bytes >= best.bytes)) continue;
      if (size < ownSegmentFrom && block.segment.bytes > largeSegment) continue;
      best = block;
    }
    return best && this.#cut(best, size);
  }

  #cut(block: Block, size: number): Block {
    this.#free.delete(block);
    block.free = false;
    if (block.bytes > size) {
      const { segment, next } = block;
      const rest: Block = {
        segment,
        start: block.start + size,
        bytes: block.bytes - size,
        free: true,
        previous: block,
        next,
      };
      if (next) next.previous = rest;
      block.next = rest;
      block.bytes = size;
      this.#free.add(rest);
    }
    return block;
  }

  #release(block: Block): void {
    block.free = true;
    const { previous, next } = block;
    if (next?.free) {
      this.#free.delete(next);
      block.bytes += next.bytes;
      block.next = next.next;
      if (next.next) next.next.previous = block;
    }
    if (previous?.free) {
      previous.bytes += block.bytes;
      previous.next = block.next;
      if (block.next) block.next.previous = previous;
    } else this.#free.add(block);
  }

  #newSegment(size: number): Block {
    const bytes =
      size >= ownSegmentFrom
        ? Math.ceil(size / smallSegment) * smallSegment
        : size > smallSegment / 2
          ? largeSegment
          : smallSegment;
    const address = this.#ask(bytes) ?? this.#askAgain(bytes, size);
    const segment: Segment = { address, bytes, first: null };
    const block: Block = { segment, start: address, bytes, free: true, previous: null, next: null };
    segment.first = block;
    this.#segments.add(segment);
    this.#countReserved(bytes);
    return block;
  }

  #askAgain(bytes: number, size: number): number {
    this.trim();
    this.#reclaim();
    const address = this.#ask(bytes);
    if (address !== null) return address;
    const gib = (count: number) => `${(count / 2 ** 30).toFixed(2)} GiB`;
    throw new OutOfMemoryError(
      size,
      this.#device.freeBytes(),
      `${this.#device.name} has ${gib(this.#device.totalBytes)}, this process holds ${gib(this.#shared.use.reserved)} ` +
        `(${gib(this.#shared.use.allocated)} in tensors and weights): ask for fewer frames or a smaller picture, or use --vae-use-tiling.`,
    );
  }

  #ask(bytes: number): number | null {
    const out = new BigUint64Array(1);
    const code = this.#device.driver.cuMemAlloc(out, bytes);
    if (code === CUresult.OUT_OF_MEMORY) return null;
    this.#device.check('cuMemAlloc', code);
    return firstOf(out);
  }
}
