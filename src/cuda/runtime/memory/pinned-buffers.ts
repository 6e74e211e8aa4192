// Page-locked host memory that copies to and from the device pass through, reused once the copy is done.
import { viewAddress } from '../../../native/index.js';
import type { Device } from '../device.js';
import { type Stream, StreamEvent } from '../stream.js';
import type { HostMemory } from './host-memory.js';

/** Uploads go in pieces of at most this many bytes. */
const pieceBytes = 32 << 20;
const smallestBytes = 64 << 10;
/** Buffers beyond this size are not kept. */
const keptBytes = 64 << 20;
/** How many pieces may be on their way before an upload waits for the oldest. */
const piecesInFlight = 4;

/** A page-locked buffer and the event that says when the device is done with it. */
export interface PinnedBuffer {
  readonly address: number;
  readonly bytes: number;
  readonly view: Uint8Array;
  readonly event: StreamEvent;
}

export class PinnedBuffers implements Disposable {
  readonly #device: Device;
  readonly #host: HostMemory;
  readonly #idle: PinnedBuffer[] = [];
  readonly #busy: PinnedBuffer[] = [];

  constructor(device: Device, host: HostMemory) {
    this.#device = device;
    this.#host = host;
  }

  /** A buffer of at least `bytes`, at most the largest view of this Node (4 GiB on Node 20). */
  take(bytes: number): PinnedBuffer {
    this.#collect();
    const wanted = Math.max(smallestBytes, 2 ** Math.ceil(Math.log2(bytes)));
    const found = this.#idle.findIndex((buffer) => buffer.bytes >= bytes && buffer.bytes <= 4 * wanted);
    const [reused] = found >= 0 ? this.#idle.splice(found, 1) : [];
    return reused ?? this.#allocate(wanted > keptBytes ? bytes : wanted);
  }

  /** Gives a buffer back whose copy was just enqueued on `stream`. */
  retire(buffer: PinnedBuffer, stream: Stream): void {
    stream.record(buffer.event);
    this.#busy.push(buffer);
  }

  /** Gives a buffer back that nothing uses any more. */
  release(buffer: PinnedBuffer): void {
    if (buffer.bytes <= keptBytes) this.#idle.push(buffer);
    else this.#destroy(buffer);
  }

  /** Copies host bytes to the device in pieces; the host bytes may change as soon as it returns. */
  upload(stream: Stream, to: number, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = bytes.subarray(at, Math.min(at + pieceBytes, bytes.length));
      const oldest = this.#busy.length >= piecesInFlight ? this.#busy[0] : undefined;
      oldest?.event.block();
      const buffer = this.take(piece.length);
      buffer.view.set(piece);
      stream.copyToDevice(to + at, buffer.address, piece.length);
      this.retire(buffer, stream);
    }
  }

  [Symbol.dispose](): void {
    for (const buffer of [...this.#idle, ...this.#busy]) this.#destroy(buffer);
    this.#idle.length = 0;
    this.#busy.length = 0;
  }

  #collect(): void {
    while (this.#busy[0]?.event.isDone()) {
      const buffer = this.#busy.shift();
      if (buffer) this.release(buffer);
    }
  }

  #allocate(bytes: number): PinnedBuffer {
    const address = this.#host.allocate(bytes);
    return { address, bytes, view: viewAddress(BigInt(address), bytes), event: new StreamEvent(this.#device) };
  }

  #destroy(buffer: PinnedBuffer): void {
    buffer.event[Symbol.dispose]();
    this.#host.free(buffer.address);
  }
}
