// A CUDA driver in this process: device memory is host memory, work runs when it is enqueued, launches go to a callback.
import { Buffer } from 'node:buffer';
import type { Driver } from '../../src/cuda/ffi/driver.js';
import { addressOf, type Pointer, viewAddress } from '../../src/native/index.js';
import { type FakeOrder, FakeStreams } from './fake-streams.js';

export interface FakeLaunch {
  readonly module: string;
  readonly kernel: string;
  readonly grid: readonly [number, number, number];
  readonly block: number;
  readonly shared: number;
  /** Address of the table of pointers to the arguments. */
  readonly parameters: number;
}

export interface FakeDriverOptions {
  readonly totalBytes?: number;
  readonly capability?: readonly [number, number];
  readonly sharedBytes?: number;
  readonly gpus?: number;
  readonly onLaunch?: (launch: FakeLaunch) => void;
  /** Milliseconds between any two events; 1 where absent. */
  readonly elapsedMs?: () => number;
  /** When work of streams runs; as given where absent. */
  readonly order?: FakeOrder;
  /** Host memory that can be locked, bytes. */
  readonly hostBytes?: number;
}

/** What a test may look at. */
export interface FakeState {
  readonly calls: string[];
  readonly launches: FakeLaunch[];
  /** Bytes given out by cuMemAlloc. */
  allocatedBytes: number;
  /** Device blocks given out and not freed. */
  readonly blocks: Map<number, ArrayBuffer>;
  /** The same of page-locked host memory. */
  readonly hostBlocks: Map<number, ArrayBuffer>;
  /** Events answer "not ready" so many more times. */
  pendingQueries: number;
  /** The code that the next call of a name returns. */
  readonly failures: Map<string, number>;
  /** Runs work of a library now, or makes it part of the graph that its stream records. */
  enqueue(name: string, stream: number, work: () => void): number;
}

const names: Readonly<Record<number, string>> = {
  2: 'CUDA_ERROR_OUT_OF_MEMORY',
  600: 'CUDA_ERROR_NOT_READY',
  700: 'CUDA_ERROR_ILLEGAL_ADDRESS',
};
const sentences: Readonly<Record<number, string>> = {
  2: 'out of memory',
  700: 'an illegal memory access was encountered',
};

const alignment = 512;

function bytesAt(pointer: Pointer | number, count: number): Uint8Array {
  if (pointer === null) throw new Error('null pointer');
  if (typeof pointer === 'number' || typeof pointer === 'bigint') return viewAddress(BigInt(pointer), count);
  if (ArrayBuffer.isView(pointer)) return new Uint8Array(pointer.buffer, pointer.byteOffset, count);
  return new Uint8Array(pointer, 0, count);
}

/** A driver and the state behind it. */
export function createFakeDriver(options: FakeDriverOptions = {}): { driver: Driver; state: FakeState } {
  const { totalBytes = 1 << 30, capability = [9, 0], sharedBytes = 232448, gpus = 1, onLaunch, elapsedMs } = options;
  const streams = new FakeStreams(options.order ?? 'as given');
  let hostBytes = options.hostBytes ?? Number.POSITIVE_INFINITY;
  const state: FakeState = {
    calls: [],
    launches: [],
    allocatedBytes: 0,
    blocks: new Map(),
    hostBlocks: new Map(),
    pendingQueries: 0,
    failures: new Map(),
    enqueue: (name, stream, work) => enqueue(name, stream, work),
  };
  const texts = new Map<string, Buffer>();
  const modules = new Map<number, string>();
  const kernels = new Map<number, { readonly module: string; readonly name: string }>();
  let nextHandle = 1;
  const handle = (out: BigUint64Array): number => {
    const value = nextHandle++;
    out[0] = BigInt(value);
    return value;
  };
  const cString = (text: string): bigint => {
    const kept = texts.get(text) ?? Buffer.from(`${text}\0`);
    texts.set(text, kept);
    return addressOf(kept);
  };
  const call = (name: string, body: () => number | undefined): number => {
    state.calls.push(name);
    const failure = state.failures.get(name);
    if (failure === undefined) return body() ?? 0;
    state.failures.delete(name);
    return failure;
  };
  /** Gives work to a stream, or makes it part of the graph being recorded. */
  const enqueue = (name: string, stream: number, work: () => void): number =>
    call(name, () => {
      streams.work(stream, work);
      return 0;
    });
  const allocate = (out: BigUint64Array, bytes: number, into: Map<number, ArrayBuffer>): void => {
    const buffer = new ArrayBuffer(bytes + alignment);
    const address = Math.ceil(Number(addressOf(buffer)) / alignment) * alignment;
    new Uint8Array(buffer).fill(0xcd);
    into.set(address, buffer);
    out[0] = BigInt(address);
  };
  const { hostBlocks } = state;

  const driver: Driver = {
    cuInit: () => call('cuInit', () => 0),
    cuDriverGetVersion: (version) =>
      call('cuDriverGetVersion', () => {
        version[0] = 13000;
        return 0;
      }),
    cuGetErrorName: (error, text) => {
      const name = names[error];
      if (name === undefined) return 1;
      text[0] = cString(name);
      return 0;
    },
    cuGetErrorString: (error, text) => {
      const sentence = sentences[error];
      if (sentence === undefined) return 1;
      text[0] = cString(sentence);
      return 0;
    },
    cuDeviceGetCount: (count) => {
      count[0] = gpus;
      return 0;
    },
    cuDeviceGet: (device, ordinal) => {
      device[0] = ordinal;
      return 0;
    },
    cuDeviceGetName: (name) => {
      name.set(Buffer.from('Fake GPU\0'));
      return 0;
    },
    cuDeviceGetAttribute: (value, attribute) => {
      const values: Readonly<Record<number, number>> = {
        16: 132,
        75: capability[0],
        76: capability[1],
        97: sharedBytes,
      };
      value[0] = values[attribute] ?? 0;
      return 0;
    },
    cuDeviceTotalMem: (bytes) => {
      bytes[0] = BigInt(totalBytes);
      return 0;
    },
    cuDevicePrimaryCtxRetain: (context) => {
      handle(context);
      return 0;
    },
    cuDevicePrimaryCtxRelease: () => call('cuDevicePrimaryCtxRelease', () => 0),
    cuCtxSetCurrent: () => 0,
    cuMemGetInfo: (free, total) => {
      free[0] = BigInt(totalBytes - state.allocatedBytes);
      total[0] = BigInt(totalBytes);
      return 0;
    },
    cuMemAlloc: (address, bytes) =>
      call('cuMemAlloc', () => {
        if (state.allocatedBytes + bytes > totalBytes) return 2;
        state.allocatedBytes += bytes;
        allocate(address, bytes, state.blocks);
        return 0;
      }),
    cuMemFree: (address) =>
      call('cuMemFree', () => {
        streams.drain();
        const buffer = state.blocks.get(address);
        if (!buffer) return 1;
        state.allocatedBytes -= buffer.byteLength - alignment;
        state.blocks.delete(address);
        return 0;
      }),
    cuMemHostAlloc: (address, bytes) =>
      call('cuMemHostAlloc', () => {
        if (bytes > hostBytes) return 2;
        hostBytes -= bytes;
        allocate(address, bytes, hostBlocks);
        return 0;
      }),
    cuMemFreeHost: (address) =>
      call('cuMemFreeHost', () => {
        streams.drain();
        hostBlocks.delete(address);
        return 0;
      }),
    cuMemcpyHtoDAsync: (to, from, bytes, stream) =>
      enqueue('cuMemcpyHtoDAsync', stream, () => bytesAt(to, bytes).set(bytesAt(from, bytes))),
    cuMemcpyDtoHAsync: (to, from, bytes, stream) =>
      enqueue('cuMemcpyDtoHAsync', stream, () => bytesAt(to, bytes).set(bytesAt(from, bytes))),
    cuMemcpyDtoDAsync: (to, from, bytes, stream) =>
      enqueue('cuMemcpyDtoDAsync', stream, () => bytesAt(to, bytes).set(bytesAt(from, bytes))),
    cuMemsetD8Async: (to, value, bytes, stream) =>
      enqueue('cuMemsetD8Async', stream, () => bytesAt(to, bytes).fill(value)),
    cuStreamCreate: (stream) => {
      streams.create(handle(stream));
      return 0;
    },
    cuStreamDestroy: () => call('cuStreamDestroy', () => 0),
    cuStreamSynchronize: (stream) => call('cuStreamSynchronize', () => streams.synchronize(stream)),
    cuStreamBeginCapture: (stream) =>
      call('cuStreamBeginCapture', () => {
        streams.beginCapture(stream);
        return 0;
      }),
    cuStreamEndCapture: (_stream, graph) =>
      call('cuStreamEndCapture', () => {
        const made = handle(graph);
        const code = streams.endCapture(made);
        if (code !== 0) graph[0] = 0n;
        return code;
      }),
    cuStreamWaitEvent: (stream, event) => call('cuStreamWaitEvent', () => streams.wait(stream, event)),
    cuGraphInstantiateWithFlags: (executable, graph) =>
      call('cuGraphInstantiateWithFlags', () => {
        streams.instantiate(handle(executable), graph);
        return 0;
      }),
    cuGraphGetNodes: (graph, _nodes, count) => {
      count[0] = BigInt(streams.countOf(graph));
      return 0;
    },
    cuGraphLaunch: (executable, stream) =>
      call('cuGraphLaunch', () => {
        streams.launch(executable, stream);
        return 0;
      }),
    cuGraphExecDestroy: (executable) =>
      call('cuGraphExecDestroy', () => {
        streams.forget(executable);
        return 0;
      }),
    cuGraphDestroy: (graph) =>
      call('cuGraphDestroy', () => {
        streams.forget(graph);
        return 0;
      }),
    cuEventCreate: (event) => {
      handle(event);
      return 0;
    },
    cuEventRecord: (event, stream) =>
      call('cuEventRecord', () => {
        streams.record(stream, event);
        return 0;
      }),
    cuEventQuery: (event) =>
      call('cuEventQuery', () => {
        if (state.pendingQueries === 0) return streams.query(event);
        state.pendingQueries--;
        return 600;
      }),
    cuEventSynchronize: (event) => call('cuEventSynchronize', () => streams.block(event)),
    cuEventElapsedTime: (milliseconds) => {
      milliseconds[0] = elapsedMs?.() ?? 1;
      return 0;
    },
    cuEventDestroy: () => call('cuEventDestroy', () => 0),
    cuModuleLoadData: (module, image) =>
      call('cuModuleLoadData', () => {
        modules.set(handle(module), Buffer.from(image).toString('utf8'));
        return 0;
      }),
    cuModuleUnload: (module) =>
      call('cuModuleUnload', () => {
        modules.delete(module);
        return 0;
      }),
    cuModuleGetFunction: (kernel, module, name) =>
      call('cuModuleGetFunction', () => {
        kernels.set(handle(kernel), { module: modules.get(module) ?? '', name });
        return 0;
      }),
    cuFuncSetAttribute: () => call('cuFuncSetAttribute', () => 0),
    cuFuncGetAttribute: (value) => {
      value[0] = 0;
      return 0;
    },
    cuTensorMapEncodeTiled: (map, _type, rank, address, size, _strides, box) =>
      call('cuTensorMapEncodeTiled', () => {
        const words = new BigUint64Array(map.buffer, map.byteOffset, 16);
        words.set([BigInt(rank), BigInt(address), ...size, ...Array.from(box, BigInt)]);
        return 0;
      }),
    cuLaunchKernel: (kernel, gridX, gridY, gridZ, blockX, _blockY, _blockZ, sharedBytes_, stream, parameters) => {
      const { module, name } = kernels.get(kernel) ?? { module: '', name: '' };
      const launch: FakeLaunch = {
        module,
        kernel: name,
        grid: [gridX, gridY, gridZ],
        block: blockX,
        shared: sharedBytes_,
        parameters,
      };
      // A recorded launch keeps its arguments, as the driver does.
      const kept = streams.isDeferred(stream) ? keepParameters(parameters) : null;
      return enqueue('cuLaunchKernel', stream, () => {
        const now = kept ? { ...launch, parameters: kept.address } : launch;
        state.launches.push(now);
        onLaunch?.(now);
      });
    },
  };
  return { driver, state };
}

/** Launch arenas are one block: the table of pointers, then what they point at. */
const arenaBytes = 32 * 8 + 32 * 8 + 2048;

function keepParameters(address: number): { readonly address: number; readonly bytes: Uint8Array } {
  const bytes = viewAddress(BigInt(address), arenaBytes).slice();
  const kept = Number(addressOf(bytes));
  const table = new BigUint64Array(bytes.buffer, bytes.byteOffset, 32);
  for (const [i, pointer] of table.entries()) table[i] = pointer - BigInt(address) + BigInt(kept);
  return { address: kept, bytes };
}
