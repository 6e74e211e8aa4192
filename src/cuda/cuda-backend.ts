// The device contract on one NVIDIA GPU.
import {
  type Backend,
  dtypeBytes,
  elementCount,
  type Graph,
  type HostTensor,
  type Kept,
  ShapeError,
  type Tensor,
} from '../backend/index.js';
import { makeWeight } from './cuda-weight.js';
import { openCublasLt } from './ffi/cublaslt.js';
import { openDriver } from './ffi/driver.js';
import { openNvrtc } from './ffi/nvrtc.js';
import { Gemm } from './gemm.js';
import { createOps } from './ops.js';
import { createCompiler } from './runtime/compiler.js';
import { Device } from './runtime/device.js';
import { CudaGraph } from './runtime/graph.js';
import type { MemoryUse } from './runtime/memory-pool.js';
import type { ModuleCounts } from './runtime/module-cache.js';
import { type CudaSystem, Runtime } from './runtime/runtime.js';
import { type CudaTensor, own } from './runtime/tensor.js';

export interface CudaOptions {
  /** Which GPU, counted from 0. */
  readonly device?: number;
  /** What networks compute in; `bf16` where absent. */
  readonly dtype?: 'f32' | 'bf16';
  /** Folders searched for CUDA's libraries first: a toolkit, a Python environment's `site-packages`. */
  readonly libraryRoots?: readonly string[];
  /** Where compiled kernels are kept between runs; nothing is kept where absent. */
  readonly cacheDir?: string;
  /** Sentinels around tensors and contents that are no number, for tests: slow. */
  readonly guarded?: boolean;
}

/** What a backend has used and done so far. */
export interface CudaReport {
  /** Tensors, weights and workspaces, graphs' temporaries included, in bytes. */
  readonly memory: MemoryUse;
  readonly modules: ModuleCounts;
  /** Kernels launched, those of a recorded graph once. */
  readonly launches: number;
  /** Bytes free on the GPU, for all processes. */
  readonly freeBytes: number;
}

/** The contract, and what tools want to know of a GPU. */
export interface CudaBackend extends Backend {
  report(): CudaReport;
  /** Makes the present use the new high-water mark. */
  resetPeaks(): void;
  /** Sentinels overwritten since the last call, one line each; empty unless `guarded`. */
  strayWrites(): readonly string[];
}

/**
 * Opens a GPU and the libraries.
 * @throws NativeError naming a missing library and where it was sought · CudaError
 */
export function createCudaBackend(options: CudaOptions = {}): CudaBackend {
  const roots = options.libraryRoots ?? [];
  const device = new Device(openDriver(), options.device ?? 0);
  const system = { device, compiler: createCompiler(openNvrtc(roots)), cublasLt: openCublasLt(roots) };
  return createBackendOn(system, options);
}

/** The same on libraries that are open. */
export function createBackendOn(
  system: CudaSystem,
  options: Omit<CudaOptions, 'device' | 'libraryRoots'>,
): CudaBackend {
  const dtype = options.dtype ?? 'bf16';
  const r = new Runtime(system, { dtype, cacheDir: options.cacheDir ?? null, guarded: options.guarded ?? false });
  const gemm = new Gemm(r, system.cublasLt);
  let isOpen = true;

  return {
    name: `cuda:${r.device.ordinal} ${r.device.name} ${dtype}`,
    activationDtype: dtype,
    ...createOps(r, gemm),

    upload: (host) => upload(r, host),
    weight(parts, use) {
      if (r.stream.isCapturing) throw new Error('a weight cannot be made inside a captured region');
      return makeWeight(r, parts, use);
    },
    zeros(shape, type) {
      const out = r.tensors.make(shape, type);
      r.stream.fill(out.address, 0, out.byteLength);
      return out;
    },
    download: (tensor) => download(r, tensor),
    scope: <T extends Kept>(body: () => T) => r.tensors.run(body),
    capture: (body) => capture(r, body),
    synchronize: () => r.stream.synchronize(),

    report: () => ({
      memory: addUses(r.pool.use, r.arena.use),
      modules: r.modules.counts,
      launches: r.launcher.count,
      freeBytes: r.device.freeBytes(),
    }),
    resetPeaks() {
      r.pool.resetPeaks();
      r.arena.resetPeaks();
    },
    strayWrites: () => r.guarded?.strayWrites() ?? [],

    async [Symbol.asyncDispose]() {
      if (!isOpen) return;
      isOpen = false;
      r.stream.drain();
      gemm[Symbol.dispose]();
      r[Symbol.dispose]();
    },
  };
}

function addUses(a: MemoryUse, b: MemoryUse): MemoryUse {
  return {
    allocated: a.allocated + b.allocated,
    reserved: a.reserved + b.reserved,
    peakAllocated: a.peakAllocated + b.peakAllocated,
    peakReserved: a.peakReserved + b.peakReserved,
  };
}

function upload(r: Runtime, host: HostTensor): CudaTensor {
  const { shape, dtype, bytes } = host;
  if (bytes.byteLength !== elementCount(shape) * dtypeBytes(dtype))
    throw new ShapeError('upload', `${bytes.byteLength} bytes for ${dtype} [${shape.join(', ')}]`);
  if (r.constants) return uploadConstant(r, host, r.constants);
  const out = r.tensors.make(shape, dtype);
  r.pinned.upload(r.stream, out.address, bytes);
  return out;
}

// Host data inside a captured region is the same at every replay: it is copied now, beside the recording, and the graph owns it.
function uploadConstant(r: Runtime, { shape, dtype, bytes }: HostTensor, constants: CudaTensor[]): CudaTensor {
  const out = r.tensors.makeIn(r.pool, shape, dtype);
  constants.push(out.alias(shape, 0));
  if (r.stream.isRehearsing) return out;
  r.pinned.upload(r.side, out.address, bytes);
  r.side.drain();
  return out;
}

async function download(r: Runtime, tensor: Tensor): Promise<HostTensor> {
  const { shape, dtype, address, byteLength } = own(tensor);
  if (r.stream.isCapturing) throw new ShapeError('download', 'nothing has been computed inside a captured region');
  if (byteLength === 0) return { shape, dtype, bytes: new Uint8Array(0) };
  const buffer = r.pinned.take(byteLength);
  r.stream.copyToHost(buffer.address, address, byteLength);
  r.stream.record(buffer.event);
  await buffer.event.wait();
  const bytes = buffer.view.slice(0, byteLength);
  r.pinned.release(buffer);
  return { shape, dtype, bytes };
}

// The body runs twice: once for what it takes (kernels compiled, memory of the arena), once to be recorded with nothing left to do.
function capture(r: Runtime, body: () => void): Graph {
  if (r.stream.isCapturing) throw new Error('capture inside a captured region');
  const scoped = () => {
    r.tensors.run(() => {
      body();
      return null;
    });
  };
  const release = (constants: readonly CudaTensor[]) => {
    for (const constant of constants) constant[Symbol.dispose]();
    r.releaseArena();
  };
  const constants: CudaTensor[] = [];
  r.holdArena();
  try {
    return r.tensors.within(r.arena, () => {
      r.stream.rehearse(() => r.collectConstants(constants, scoped));
      // Constants go to memory that work still under way may be using.
      if (constants.length > 0) r.stream.drain();
      for (const rehearsed of constants.splice(0)) rehearsed[Symbol.dispose]();
      const graph = r.stream.recordGraph(() => r.collectConstants(constants, scoped));
      return new CudaGraph(r.stream, graph, () => release(constants));
    });
  } catch (error) {
    release(constants);
    throw error;
  }
}
