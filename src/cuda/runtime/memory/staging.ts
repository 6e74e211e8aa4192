// Large host arrays on their way to the device: read into one of two page-locked blocks while the other is being copied.
import { addressOf } from '../../../native/index.js';
import type { CopyLane } from '../copy-lane.js';
import { StreamEvent } from '../stream.js';
import type { HostCopier } from './host-copier.js';
import type { HostMemory } from './host-memory.js';

const defaultBlockBytes = 64 << 20;

interface Block {
  readonly address: number;
  /** When the device has taken what it holds. */
  readonly taken: StreamEvent;
  inUse: boolean;
}

export class Staging implements Disposable {
  readonly #host: HostMemory;
  readonly #lane: CopyLane;
  readonly #copier: HostCopier;
  readonly #blockBytes: number;
  readonly #blocks: Block[] = [];
  #turn = 0;

  constructor(host: HostMemory, lane: CopyLane, copier: HostCopier, blockBytes = defaultBlockBytes) {
    this.#host = host;
    this.#lane = lane;
    this.#copier = copier;
    this.#blockBytes = blockBytes;
  }

  /**
   * Copies host bytes to device memory. What the main stream is given from here on sees them; they may change as soon as it returns.
   * The device may still be taking the last two blocks then, so that the next array is read meanwhile.
   */
  upload(to: number, bytes: Uint8Array): void {
    const from = Number(addressOf(bytes));
    this.#lane.follow();
    for (let at = 0; at < bytes.length; at += this.#blockBytes) {
      const count = Math.min(this.#blockBytes, bytes.length - at);
      const block = this.#nextBlock();
      this.#copier.copy(block.address, from + at, count);
      this.#lane.stream.copyToDevice(to + at, block.address, count);
      this.#lane.stream.record(block.taken);
      block.inUse = true;
      if (at + count === bytes.length) this.#lane.join(block.taken);
    }
  }

  [Symbol.dispose](): void {
    for (const { address, taken } of this.#blocks.splice(0)) {
      taken[Symbol.dispose]();
      this.#host.free(address);
    }
  }

  #nextBlock(): Block {
    const index = this.#turn++ % 2;
    const block = this.#blocks[index];
    if (block) {
      if (block.inUse) block.taken.block();
      block.inUse = false;
      return block;
    }
    const { device } = this.#lane.stream;
    const made = { address: this.#host.allocate(this.#blockBytes), taken: new StreamEvent(device), inUse: false };
    this.#blocks.push(made);
    return made;
  }
}
