// Kernels by source and defines: compiled once, kept in memory and on disk.
import { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES } from '../ffi/driver.js';
import { type KernelSource, type KernelText, readKernelText } from '../kernels/sources.js';
import type { Compiler } from './compiler.js';
import { type Device, firstOf } from './device.js';
import { type ImageCache, imageKey } from './image-cache.js';

/** `-D` defines of a kernel: dtypes, sizes. */
export type Defines = Readonly<Record<string, string | number>>;

/** Dynamic shared memory that a block may have without being allowed more. */
const sharedByDefault = 48 << 10;

/** A loaded kernel. */
export class Kernel {
  readonly #device: Device;
  #allowed = sharedByDefault;

  constructor(
    device: Device,
    readonly name: string,
    readonly handle: number,
    /** One letter an argument: `p` address, `i` integer, `f` float, `s` a struct by value, last. */
    readonly signature: string,
  ) {
    this.#device = device;
  }

  /** @throws Error where this GPU's blocks cannot have so much. */
  allowShared(bytes: number): void {
    if (bytes <= this.#allowed) return;
    if (bytes > this.#device.sharedBytes)
      throw new Error(
        `${this.name} needs ${bytes} bytes of shared memory, a block of ${this.#device.name} has ${this.#device.sharedBytes}`,
      );
    const { driver } = this.#device;
    const attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    this.#device.check('cuFuncSetAttribute', driver.cuFuncSetAttribute(this.handle, attribute, bytes));
    this.#allowed = bytes;
  }
}

/** What was done to have the kernels: reported by tools. */
export interface ModuleCounts {
  readonly compiled: number;
  readonly fromDisk: number;
  readonly compileMs: number;
}

/** Compiler options of a kernel on an architecture. */
export function compileOptions(architecture: string, defines: Defines): string[] {
  const names = Object.keys(defines).sort();
  return [`--gpu-architecture=${architecture}`, '--std=c++17', ...names.map((name) => `-D${name}=${defines[name]}`)];
}

export class ModuleCache implements Disposable {
  readonly #device: Device;
  readonly #compiler: Compiler;
  readonly #images: ImageCache;
  readonly #kernels = new Map<string, Kernel>();
  readonly #modules: number[] = [];
  readonly #texts = new Map<string, KernelText>();
  #counts = { compiled: 0, fromDisk: 0, compileMs: 0 };

  constructor(device: Device, compiler: Compiler, images: ImageCache) {
    this.#device = device;
    this.#compiler = compiler;
    this.#images = images;
  }

  get counts(): ModuleCounts {
    return { ...this.#counts };
  }

  /** @throws KernelCompileError, CudaError */
  get(source: KernelSource, defines: Defines): Kernel {
    let key = source.entry;
    for (const name in defines) key += `;${name}=${defines[name]}`;
    const known = this.#kernels.get(key);
    if (known) return known;
    const kernel = this.#load(source, defines);
    this.#kernels.set(key, kernel);
    return kernel;
  }

  [Symbol.dispose](): void {
    for (const module of this.#modules) this.#device.driver.cuModuleUnload(module);
    this.#modules.length = 0;
    this.#kernels.clear();
  }

  #load(source: KernelSource, defines: Defines): Kernel {
    const { driver } = this.#device;
    const out = new BigUint64Array(1);
    this.#device.check('cuModuleLoadData', driver.cuModuleLoadData(out, this.#image(source, defines)));
    const module = firstOf(out);
    this.#modules.push(module);
    this.#device.check('cuModuleGetFunction', driver.cuModuleGetFunction(out, module, source.entry));
    return new Kernel(this.#device, source.entry, firstOf(out), source.signature);
  }

  #image(source: KernelSource, defines: Defines): Uint8Array {
    const text = this.#texts.get(source.file) ?? readKernelText(source);
    this.#texts.set(source.file, text);
    const options = compileOptions(this.#device.architecture, defines);
    const key = imageKey(text, options, this.#compiler.version);
    const kept = this.#images.read(key);
    if (kept) {
      this.#counts.fromDisk++;
      return kept;
    }
    const start = performance.now();
    const image = this.#compiler.compile(text, options);
    this.#counts.compiled++;
    this.#counts.compileMs += performance.now() - start;
    this.#images.write(key, image);
    return image;
  }
}
