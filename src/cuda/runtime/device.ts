// One GPU: its context, what it is, and the check that turns result codes into errors.
import { viewAddress } from '../../native/index.js';
import { CUdevice_attribute, CUresult, type Driver } from '../ffi/driver.js';
import { CudaError } from '../ffi/errors.js';

/** Compute capability, such as 9.0. */
export interface Capability {
  readonly major: number;
  readonly minor: number;
}

const longestText = 512;

function readText(address: number): string {
  const bytes: number[] = [];
  for (let at = BigInt(address); bytes.length < longestText; at++) {
    const byte = viewAddress(at, 1)[0] ?? 0;
    if (byte === 0) break;
    bytes.push(byte);
  }
  return Buffer.from(bytes).toString('utf8');
}

/** The driver's name and sentence for a result code. */
export function describeResult(driver: Driver, code: number): string {
  const text = new BigUint64Array(1);
  const words = [driver.cuGetErrorName, driver.cuGetErrorString].map((describe) =>
    describe(code, text) === 0 && text[0] ? readText(Number(text[0])) : '',
  );
  return words.filter((word) => word !== '').join(', ') || 'an error without a name';
}

/** The first value a call wrote. */
export function firstOf(array: BigUint64Array | Int32Array): number {
  return Number(array[0] ?? 0);
}

export class Device implements Disposable {
  readonly name: string;
  readonly capability: Capability;
  readonly multiprocessors: number;
  /** Shared memory that one block may ask for, bytes. */
  readonly sharedBytes: number;
  readonly totalBytes: number;
  readonly driverVersion: number;
  readonly #handle: number;

  /**
   * Opens a GPU and makes its primary context current on this thread.
   * @throws CudaError when there is no such GPU; the message says how many there are.
   */
  constructor(
    readonly driver: Driver,
    readonly ordinal: number,
  ) {
    this.check('cuInit', driver.cuInit(0));
    const word = new Int32Array(1);
    const wide = new BigUint64Array(1);
    this.check('cuDriverGetVersion', driver.cuDriverGetVersion(word));
    this.driverVersion = firstOf(word);
    this.check('cuDeviceGetCount', driver.cuDeviceGetCount(word));
    const count = firstOf(word);
    if (ordinal >= count) throw new CudaError('cuDeviceGet', 101, `GPU ${ordinal} of ${count}; GPUs count from 0`);
    this.check('cuDeviceGet', driver.cuDeviceGet(word, ordinal));
    this.#handle = firstOf(word);
    const name = new Uint8Array(256);
    this.check('cuDeviceGetName', driver.cuDeviceGetName(name, name.length, this.#handle));
    this.name = Buffer.from(name.subarray(0, name.indexOf(0))).toString('utf8');
    const attribute = (which: number) => {
      this.check('cuDeviceGetAttribute', driver.cuDeviceGetAttribute(word, which, this.#handle));
      return firstOf(word);
    };
    this.capability = {
      major: attribute(CUdevice_attribute.COMPUTE_CAPABILITY_MAJOR),
      minor: attribute(CUdevice_attribute.COMPUTE_CAPABILITY_MINOR),
    };
    this.multiprocessors = attribute(CUdevice_attribute.MULTIPROCESSOR_COUNT);
    this.sharedBytes = attribute(CUdevice_attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    this.check('cuDeviceTotalMem', driver.cuDeviceTotalMem(wide, this.#handle));
    this.totalBytes = firstOf(wide);
    this.check('cuDevicePrimaryCtxRetain', driver.cuDevicePrimaryCtxRetain(wide, this.#handle));
    this.check('cuCtxSetCurrent', driver.cuCtxSetCurrent(firstOf(wide)));
  }

  /** The compiler's name for this chip: `sm_90a`, `sm_120`. Hopper's own instructions need the `a`. */
  get architecture(): string {
    const { major, minor } = this.capability;
    return `sm_${major}${minor}${major === 9 && minor === 0 ? 'a' : ''}`;
  }

  /** @throws CudaError for anything but success. */
  check(call: string, code: number): void {
    if (code !== CUresult.SUCCESS) throw new CudaError(call, code, describeResult(this.driver, code));
  }

  /** Bytes free on the GPU, for all processes. */
  freeBytes(): number {
    const [free, total] = [new BigUint64Array(1), new BigUint64Array(1)];
    this.check('cuMemGetInfo', this.driver.cuMemGetInfo(free, total));
    return firstOf(free);
  }

  [Symbol.dispose](): void {
    this.driver.cuDevicePrimaryCtxRelease(this.#handle);
  }
}
