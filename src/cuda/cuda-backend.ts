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
  type Weight,
  type WeightGroup,
  type WeightOptions,
  type WeightUse,
} from '../backend/index.js';
import { openCublasLt } from './ffi/cublaslt.js';
import { openCudnn } from './ffi/cudnn.js';
import { openDriver } from './ffi/driver.js';
import { openNvrtc } from './ffi/nvrtc.js';
import { Fp8Products, type Fp8Serving } from './fp8-products.js';
import { Gemm } from './gemm.js';
import { whyNoFp8Attention } from './kernels/hopper/attention-fp8.js';
import { createOps } from './ops.js';
import { createCompiler } from './runtime/compiler.js';
import { Device } from './runtime/device.js';
import { CudaGraph } from './runtime/graph.js';
import { ImageCache } from './runtime/image-cache.js';
import type { MemoryUse } from './runtime/memory/memory-pool.js';
import type { ModuleCounts } from './runtime/module-cache.js';
import { type CudaSystem, Runtime } from './runtime/runtime.js';
import { StreamMark } from './runtime/stream.js';
import { type CudaTensor, own } from './runtime/tensor.js';
import { type CudaWeight, makeWeight } from './weights/cuda-weight.js';
import { type Fp8Weight, makeFp8Weight, quantizeWeight, servesFp8 } from './weights/fp8-weight.js';
import { makeRandomWeight, type RandomPart } from './weights/random-weight.js';
import { ownGroup, WeightOffload } from './weights/weight-offload.js';

export interface CudaOptions {
  /** Which GPU, counted from 0. */
  readonly device?: number;
  /** What networks compute in; `bf16` where absent. */
  readonly dtype?: 'f32' | 'bf16';
  /** Folders searched for CUDA's libraries first: a toolkit, a Python environment's `site-packages`. */
  readonly libraryRoots?: readonly string[];
  /** Where compiled kernels are kept between runs; nothing is kept where absent. */
  readonly cacheDir?: string;
  /** Whether cuDNN computes what it serves; true where absent. */
  readonly cudnn?: boolean;
  /** Times the library's first algorithms once for each product's shape and keeps the choice in `cacheDir`; else takes the first. */
  readonly tune?: boolean;
  /** Lets sums of FP8 products keep fewer bits: faster, less exact. Off where absent. */
  readonly fp8FastAccumulation?: boolean;
  /** Sentinels around tensors and contents that are no number, for tests: slow. */
  readonly guarded?: boolean;
  /** Attention over several segments in FP8 where a kernel serves it (heads of 128 on compute capability 9.0). */
  readonly fp8Attention?: boolean;
  /** Whether our kernel for compute capability 9.0 comes before cuDNN's attention where it serves; true where absent. */
  readonly hopper?: boolean;
}

/** What a backend has used and done so far. */
export interface CudaReport {
  /** Tensors, weights and workspaces, graphs' temporaries included, in bytes. */
  readonly memory: MemoryUse;
  /** Page-locked host memory: staging, and weights that stay outside the GPU. */
  readonly pinnedBytes: number;
  readonly modules: ModuleCounts;
  /** Kernels launched, those of a recorded graph once. */
  readonly launches: number;
  /** cuDNN's version, or why our kernels serve in its place. */
  readonly cudnn: string;
  /** What computes which attention and which convolution, one line a shape. */
  readonly attention: readonly string[];
  readonly convolution: readonly string[];
  /** Bytes free on the GPU, for all processes. */
  readonly freeBytes: number;
  /** Bytes that the GPU has. */
  readonly totalBytes: number;
}

/** The contract, and what tools want to know of a GPU. */
export interface CudaBackend extends Backend {
  /** What serves FP8 products; null where the GPU has none. Settled by a real product when it is first asked or needed. */
  fp8Serving(): Fp8Serving | null;
  /** Why attention of heads of a size is not computed in FP8 although that was asked for; null where it is, or was not asked for. */
  whyNoFp8Attention(headDim: number): string | null;
  report(): CudaReport;
  /** Makes the present use the new high-water mark. */
  resetPeaks(): void;
  /** A weight of random numbers made on the GPU; parts are merged as `weight` merges stored ones. */
  randomWeight(parts: readonly RandomPart[], use: WeightUse, options?: WeightOptions): Weight;
  /** A point in the stream of work, for measuring. Dispose of it. */
  mark(): StreamMark;
  /** Milliseconds of the GPU between two marks that have passed: `synchronize` first. */
  between(start: StreamMark, end: StreamMark): number;
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
  const system: CudaSystem = {
    device,
    compiler: createCompiler(openNvrtc(roots)),
    cublasLt: openCublasLt(roots),
    ...((options.cudnn ?? true) && { cudnn: { open: () => openCudnn(roots) } }),
  };
  return createBackendOn(system, options);
}

/** The same on libraries that are open. */
export function createBackendOn(
  system: CudaSystem,
  options: Omit<CudaOptions, 'device' | 'libraryRoots'>,
): CudaBackend {
  const dtype = options.dtype ?? 'bf16';
  const r = new Runtime(system, {
    dtype,
    cacheDir: options.cacheDir ?? null,
    guarded: options.guarded ?? false,
    fp8Attention: options.fp8Attention ?? false,
    hopper: options.hopper ?? true,
  });
  const gemm = new Gemm(r, system.cublasLt, {
    choices: options.tune ? new ImageCache(options.cacheDir ?? null, 'gemm') : null,
    fastAccumulation: options.fp8FastAccumulation ?? false,
  });
  const fp8 = new Fp8Products(r, gemm);
  let isOpen = true;
  const keep = (weight: CudaWeight | Fp8Weight, group: WeightGroup | undefined) =>
    group ? ownGroup(group).adopt(weight) : weight;

  return {
    name: `cuda:${r.device.ordinal} ${r.device.name} ${dtype}`,
    activationDtype: dtype,
    weightFormats: servesFp8(r.device) ? ['dense', 'fp8'] : ['dense'],
    ...createOps(r, gemm, fp8),

    upload: (host) => upload(r, host),
    weight(parts, use, { format = 'dense', group } = {}) {
      if (r.stream.isCapturing) throw new Error('a weight cannot be made inside a captured region');
      const weight = format === 'dense' ? makeWeight(r, parts, use) : makeFp8Weight(r, parts, use);
      if (format === 'fp8') fp8.settle();
      return keep(weight, group);
    },
    offload: () => new WeightOffload(r),
    fp8Serving: () => (servesFp8(r.device) ? fp8.serving : null),
    whyNoFp8Attention: (headDim) => (r.fp8Attention ? whyNoFp8Attention(r, headDim) : null),

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
      memory: r.memory.use,
      pinnedBytes: r.host.held,
      modules: r.modules.counts,
      launches: r.launcher.count,
      cudnn: r.cudnn.name,
      attention: r.choices.of('attention'),
      convolution: r.choices.of('convolution'),
      freeBytes: r.device.freeBytes(),
      totalBytes: r.device.totalBytes,
    }),
    resetPeaks() {
      r.memory.resetPeaks();
    },
    randomWeight(parts, use, { format = 'dense', group } = {}) {
      const dense = makeRandomWeight(r, parts, use);
      if (format === 'dense') return keep(dense, group);
      const weight = quantizeWeight(r, dense);
      dense[Symbol.dispose]();
      fp8.settle();
      return keep(weight, group);
    },
    mark: () => new StreamMark(r.stream),
    between: (start, end) => start.until(end),
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
  r.lane.settle();
  try {
    return r.tensors.within(r.arena, () => {
      r.stream.rehearse(() => r.collectConstants(constants, scoped));
      // Constants go to memory that work still under way may be using.
      if (constants.length > 0) r.stream.drain();
      for (const rehearsed of constants.splice(0)) rehearsed[Symbol.dispose]();
      const graph = r.stream.recordGraph(() => {
        r.collectConstants(constants, scoped);
        r.lane.settle();
      });
      return new CudaGraph(r.stream, r.lane, graph, () => release(constants));
    });
  } catch (error) {
    r.lane.forget();
    release(constants);
    throw error;
  }
}
