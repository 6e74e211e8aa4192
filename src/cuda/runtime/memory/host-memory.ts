// Page-locked host memory: what the device copies to and from without the processor's help.
import { freemem } from 'node:os';
import { OutOfMemoryError } from '../../../backend/index.js';
import { CU_MEMHOSTALLOC_PORTABLE, CUresult } from '../../ffi/driver.js';
import { type Device, firstOf } from '../device.js';

export class HostMemory implements Disposable {
  readonly #device: Device;
  readonly #blocks = new Map<number, number>();
  #held = 0;

  constructor(device: Device) {
    this.#device = device;
  }

  /** Bytes given out. */
  get held(): number {
    return this.#held;
  }

  /**
   * The address of `bytes` with undefined contents; 0 for no bytes.
   * @throws OutOfMemoryError where the system locks no more
   */
  allocate(bytes: number): number {
    if (bytes === 0) return 0;
    const out = new BigUint64Array(1);
    const code = this.#device.driver.cuMemHostAlloc(out, bytes, CU_MEMHOSTALLOC_PORTABLE);
    if (code === CUresult.OUT_OF_MEMORY)
      throw new OutOfMemoryError(
        bytes,
        freemem(),
        `This process holds ${(this.#held / 2 ** 30).toFixed(2)} GiB of page-locked host memory: leave --enable-layerwise-offload out, or use --release-text-tower in its place, or --quantization fp8.`,
        'host',
      );
    this.#device.check('cuMemHostAlloc', code);
    const address = firstOf(out);
    this.#blocks.set(address, bytes);
    this.#held += bytes;
    return address;
  }

  /** Gives a block back that no copy under way uses. */
  free(address: number): void {
    if (address === 0) return;
    const bytes = this.#blocks.get(address);
    if (bytes === undefined) throw new Error(`host address ${address} was not allocated here, or was freed before`);
    this.#blocks.delete(address);
    this.#held -= bytes;
    this.#device.driver.cuMemFreeHost(address);
  }

  [Symbol.dispose](): void {
    for (const address of [...this.#blocks.keys()]) this.free(address);
  }
}
