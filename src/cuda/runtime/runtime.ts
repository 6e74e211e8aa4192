// What ops work with: the device, its stream and memory, kernels and their launches, tensors.
import type { CublasLt } from '../ffi/cublaslt.js';
import type { KernelSource } from '../kernels/sources.js';
import type { Compiler } from './compiler.js';
import type { Device } from './device.js';
import { GuardedMemory } from './guarded-memory.js';
import { ImageCache } from './image-cache.js';
import { type Launch, Launcher } from './launcher.js';
import { MemoryPool } from './memory-pool.js';
import { type Defines, ModuleCache } from './module-cache.js';
import { PinnedBuffers } from './pinned-buffers.js';
import { Stream } from './stream.js';
import { type CudaTensor, TensorScopes } from './tensor.js';

/** The libraries a backend stands on, opened. */
export interface CudaSystem {
  readonly device: Device;
  readonly compiler: Compiler;
  readonly cublasLt: CublasLt;
}

export interface RuntimeOptions {
  readonly dtype: 'f32' | 'bf16';
  /** Where compiled kernels are kept; null keeps none. */
  readonly cacheDir: string | null;
  /** Sentinels around tensors and poisoned contents, for tests. */
  readonly guarded: boolean;
}

/** How a kernel is launched, without the kernel. */
export type KernelLaunch = Omit<Launch, 'kernel'>;

export class Runtime implements Disposable {
  readonly device: Device;
  readonly dtype: 'f32' | 'bf16';
  readonly stream: Stream;
  /** Copies that must happen now, while `stream` is recording. */
  readonly side: Stream;
  readonly pool: MemoryPool;
  /** Temporaries of captured graphs: their addresses stay, and all graphs share them. */
  readonly arena: MemoryPool;
  readonly guarded: GuardedMemory | null;
  readonly pinned: PinnedBuffers;
  readonly modules: ModuleCache;
  readonly launcher: Launcher;
  readonly tensors: TensorScopes;
  #graphs = 0;
  #constants: CudaTensor[] | null = null;

  constructor({ device, compiler }: CudaSystem, { dtype, cacheDir, guarded }: RuntimeOptions) {
    this.device = device;
    this.dtype = dtype;
    this.stream = new Stream(device);
    this.side = new Stream(device);
    this.arena = new MemoryPool(device, () => this.pool.trim());
    this.pool = new MemoryPool(device, () => {
      if (this.#graphs === 0) this.arena.trim();
    });
    this.guarded = guarded ? new GuardedMemory(this.pool, this.stream) : null;
    this.pinned = new PinnedBuffers(device);
    this.modules = new ModuleCache(device, compiler, new ImageCache(cacheDir));
    this.launcher = new Launcher(this.stream);
    this.tensors = new TensorScopes(this.guarded ?? this.pool);
  }

  /** Compiles the kernel if need be and enqueues it. */
  run(source: KernelSource, defines: Defines, launch: KernelLaunch): void {
    this.launcher.launch({ kernel: this.modules.get(source, defines), ...launch });
  }

  /** Host data uploaded inside a captured region; null outside one. */
  get constants(): CudaTensor[] | null {
    return this.#constants;
  }

  collectConstants(into: CudaTensor[], body: () => void): void {
    this.#constants = into;
    try {
      body();
    } finally {
      this.#constants = null;
    }
  }

  /** A graph exists from now on; the arena stays until the last one is gone. */
  holdArena(): void {
    this.#graphs++;
  }

  releaseArena(): void {
    this.#graphs--;
  }

  [Symbol.dispose](): void {
    this.stream.drain();
    this.modules[Symbol.dispose]();
    this.pinned[Symbol.dispose]();
    this.guarded?.[Symbol.dispose]();
    this.pool[Symbol.dispose]();
    this.arena[Symbol.dispose]();
    this.side[Symbol.dispose]();
    this.stream[Symbol.dispose]();
    this.device[Symbol.dispose]();
  }
}
