// What ops work with: the device, its stream and memory, kernels and their launches, tensors.
import type { TensorScopes } from '../../backend/index.js';
import { CudnnPlans, type CudnnSource } from '../cudnn/cudnn-plans.js';
import { KernelChoices } from '../cudnn/kernel-choices.js';
import type { CublasLt } from '../ffi/cublaslt.js';
import type { KernelSource } from '../kernels/sources.js';
import type { Compiler } from './compiler.js';
import { CopyLane } from './copy-lane.js';
import type { Device } from './device.js';
import { ImageCache } from './image-cache.js';
import { type Launch, Launcher } from './launcher.js';
import { GuardedMemory } from './memory/guarded-memory.js';
import { HostCopier } from './memory/host-copier.js';
import { HostMemory } from './memory/host-memory.js';
import { MemoryLedger, MemoryPool } from './memory/memory-pool.js';
import { PinnedBuffers } from './memory/pinned-buffers.js';
import { Staging } from './memory/staging.js';
import { type Defines, ModuleCache } from './module-cache.js';
import { Stream } from './stream.js';
import { type CudaTensor, createScopes } from './tensor.js';

/** The libraries a backend stands on, opened. */
export interface CudaSystem {
  readonly device: Device;
  readonly compiler: Compiler;
  readonly cublasLt: CublasLt;
  /** Our kernels serve where it is absent, cannot be opened, or does not serve. */
  readonly cudnn?: CudnnSource;
}

export interface RuntimeOptions {
  readonly dtype: 'f32' | 'bf16';
  /** Where compiled kernels are kept; null keeps none. */
  readonly cacheDir: string | null;
  /** Sentinels around tensors and poisoned contents, for tests. */
  readonly guarded: boolean;
  /** Attention in FP8 where a kernel serves it. */
  readonly fp8Attention: boolean;
  /** Attention by our kernel for Hopper where it serves. */
  readonly hopper: boolean;
}

/** How a kernel is launched, without the kernel. */
export type KernelLaunch = Omit<Launch, 'kernel'>;

/** Arrays from this size on are worth a copy by several threads, bytes. */
const stagedFrom = 4 << 20;

export class Runtime implements Disposable {
  readonly device: Device;
  readonly dtype: 'f32' | 'bf16';
  readonly fp8Attention: boolean;
  readonly hopper: boolean;
  readonly stream: Stream;
  /** Copies that must happen now, while `stream` is recording. */
  readonly side: Stream;
  /** Copies of weights, beside the work of `stream`. */
  readonly lane: CopyLane;
  /** What both pools hold together. */
  readonly memory = new MemoryLedger();
  readonly pool: MemoryPool;
  /** Temporaries of captured graphs: their addresses stay, and all graphs share them. */
  readonly arena: MemoryPool;
  readonly guarded: GuardedMemory | null;
  /** Page-locked memory of the host. */
  readonly host: HostMemory;
  readonly pinned: PinnedBuffers;
  readonly #copier = new HostCopier();
  readonly #staging: Staging;
  readonly modules: ModuleCache;
  readonly launcher: Launcher;
  readonly tensors: TensorScopes;
  readonly cudnn: CudnnPlans;
  readonly choices = new KernelChoices();
  #graphs = 0;
  #constants: CudaTensor[] | null = null;

  constructor({ device, compiler, cudnn }: CudaSystem, options: RuntimeOptions) {
    const { dtype, cacheDir, guarded, fp8Attention, hopper } = options;
    this.device = device;
    this.dtype = dtype;
    this.fp8Attention = fp8Attention;
    this.hopper = hopper;
    this.stream = new Stream(device);
    this.side = new Stream(device);
    this.lane = new CopyLane(device, this.stream);
    this.arena = new MemoryPool(device, () => this.pool.trim(), this.memory);
    this.pool = new MemoryPool(
      device,
      () => {
        if (this.#graphs === 0) this.arena.trim();
      },
      this.memory,
    );
    this.host = new HostMemory(device);
    this.pinned = new PinnedBuffers(device, this.host);
    this.#staging = new Staging(this.host, this.lane, this.#copier);
    this.guarded = guarded ? new GuardedMemory(this.pool, this.stream, this.pinned) : null;
    const images = new ImageCache(cacheDir);
    this.modules = new ModuleCache(device, compiler, images);
    this.cudnn = new CudnnPlans({ device, stream: this.stream, source: cudnn ?? null, images });
    this.launcher = new Launcher(this.stream);
    this.tensors = createScopes(this.guarded ?? this.pool);
  }

  /** Compiles the kernel if need be and enqueues it. */
  run(source: KernelSource, defines: Defines, launch: KernelLaunch): void {
    this.launcher.launch({ kernel: this.modules.get(source, defines), ...launch });
  }

  /** Copies stored bytes to device memory for what `stream` is given next: large ones by several threads, beside its work. */
  uploadStored(to: number, bytes: Uint8Array): void {
    if (bytes.length < stagedFrom) this.pinned.upload(this.stream, to, bytes);
    else this.#staging.upload(to, bytes);
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

  /** Graphs exist: memory that they were recorded with stays where it is. */
  get holdsGraphs(): boolean {
    return this.#graphs > 0;
  }

  /** A graph exists from now on; the arena stays until the last one is gone. What the pool keeps for reuse makes room for it. */
  holdArena(): void {
    if (this.#graphs++ === 0) this.pool.trim();
  }

  releaseArena(): void {
    if (--this.#graphs === 0) this.arena.trim();
  }

  [Symbol.dispose](): void {
    this.stream.drain();
    this.lane.stream.drain();
    this.cudnn[Symbol.dispose]();
    this.modules[Symbol.dispose]();
    this.#copier[Symbol.dispose]();
    this.#staging[Symbol.dispose]();
    this.pinned[Symbol.dispose]();
    this.host[Symbol.dispose]();
    this.pool[Symbol.dispose]();
    this.arena[Symbol.dispose]();
    this.lane[Symbol.dispose]();
    this.side[Symbol.dispose]();
    this.stream[Symbol.dispose]();
    this.device[Symbol.dispose]();
  }
}
