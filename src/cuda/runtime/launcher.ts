// Kernel launches: arguments lie in one arena whose table of pointers was written once, so that a launch costs no allocation.
import { addressOf } from '../../native/index.js';
import type { Kernel } from './module-cache.js';
import type { Stream } from './stream.js';

const argumentSlots = 32;
const slotBytes = 8;
const structBytes = 2048;
const high = 2 ** 32;

export interface Launch {
  readonly kernel: Kernel;
  /** Blocks; y and z are one where absent. */
  readonly grid: readonly [x: number, y?: number, z?: number];
  /** Threads of a block. */
  readonly block: number;
  /** Dynamic shared memory, bytes. */
  readonly shared?: number;
  /** Addresses, integers and floats, in the order of the kernel's signature. */
  readonly args: readonly number[];
  /** A struct passed by value as the last argument. */
  readonly struct?: Uint8Array;
}

export class Launcher {
  readonly #stream: Stream;
  readonly #table: number;
  readonly #words: Uint32Array;
  readonly #floats: Float32Array;
  readonly #bytes: Uint8Array;
  readonly #valuesAt: number;
  #count = 0;

  constructor(stream: Stream) {
    this.#stream = stream;
    // The last argument may be a struct: it lies in its slot and runs on behind the slots.
    const arena = new ArrayBuffer(argumentSlots * 2 * slotBytes + structBytes);
    const address = Number(addressOf(arena));
    this.#valuesAt = argumentSlots * slotBytes;
    const pointers = new BigUint64Array(arena, 0, argumentSlots);
    for (let i = 0; i < argumentSlots; i++) pointers[i] = BigInt(address + this.#valuesAt + i * slotBytes);
    this.#table = address;
    this.#words = new Uint32Array(arena);
    this.#floats = new Float32Array(arena);
    this.#bytes = new Uint8Array(arena);
  }

  /** Kernels launched so far, those of recorded graphs counted once. */
  get count(): number {
    return this.#count;
  }

  /**
   * Enqueues a kernel.
   * @throws CudaError from the driver; Error where the arguments do not match the kernel's signature.
   */
  launch({ kernel, grid, block, shared = 0, args, struct }: Launch): void {
    const { signature, name } = kernel;
    if (signature.length !== args.length + (struct ? 1 : 0) || signature.endsWith('s') !== (struct !== undefined))
      throw new Error(`${name} takes "${signature}", got ${args.length} arguments${struct ? ' and a struct' : ''}`);
    let word = this.#valuesAt / 4;
    for (let i = 0; i < args.length; i++, word += 2) {
      const value = args[i] as number;
      if (signature.charCodeAt(i) === 0x66) this.#floats[word] = value;
      else {
        this.#words[word] = value;
        this.#words[word + 1] = Math.floor(value / high);
      }
    }
    if (struct) this.#bytes.set(struct, word * 4);
    kernel.allowShared(shared);
    if (this.#stream.isRehearsing) return;
    this.#count++;
    const { device, handle } = this.#stream;
    const code = device.driver.cuLaunchKernel(
      kernel.handle,
      grid[0],
      grid[1] ?? 1,
      grid[2] ?? 1,
      block,
      1,
      1,
      shared,
      handle,
      this.#table,
      0,
    );
    if (code !== 0) device.check(`cuLaunchKernel(${name})`, code);
  }
}
