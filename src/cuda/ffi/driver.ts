// The CUDA driver API: the functions Orrery calls, under NVIDIA's names. Source: cuda.h of CUDA 13.0.
import { openLibrary, type Pointer } from '../../native/index.js';

/** Device addresses and handles are numbers; what a call gives back it writes into a typed array. */
export interface Driver {
  cuInit(flags: number): number;
  cuDriverGetVersion(version: Int32Array): number;
  cuGetErrorName(error: number, text: BigUint64Array): number;
  cuGetErrorString(error: number, text: BigUint64Array): number;
  cuDeviceGetCount(count: Int32Array): number;
  cuDeviceGet(device: Int32Array, ordinal: number): number;
  cuDeviceGetName(name: Uint8Array, length: number, device: number): number;
  cuDeviceGetAttribute(value: Int32Array, attribute: number, device: number): number;
  cuDeviceTotalMem(bytes: BigUint64Array, device: number): number;
  cuDevicePrimaryCtxRetain(context: BigUint64Array, device: number): number;
  cuDevicePrimaryCtxRelease(device: number): number;
  cuCtxSetCurrent(context: number): number;
  cuMemGetInfo(free: BigUint64Array, total: BigUint64Array): number;
  cuMemAlloc(address: BigUint64Array, bytes: number): number;
  cuMemFree(address: number): number;
  cuMemHostAlloc(address: BigUint64Array, bytes: number, flags: number): number;
  cuMemFreeHost(address: number): number;
  cuMemcpyHtoDAsync(to: number, from: Pointer, bytes: number, stream: number): number;
  cuMemcpyDtoHAsync(to: Pointer, from: number, bytes: number, stream: number): number;
  cuMemcpyDtoDAsync(to: number, from: number, bytes: number, stream: number): number;
  cuMemsetD8Async(to: number, value: number, bytes: number, stream: number): number;
  cuStreamCreate(stream: BigUint64Array, flags: number): number;
  cuStreamDestroy(stream: number): number;
  cuStreamSynchronize(stream: number): number;
  cuStreamBeginCapture(stream: number, mode: number): number;
  cuStreamEndCapture(stream: number, graph: BigUint64Array): number;
  cuStreamWaitEvent(stream: number, event: number, flags: number): number;
  cuGraphInstantiateWithFlags(executable: BigUint64Array, graph: number, flags: number): number;
  cuGraphGetNodes(graph: number, nodes: null, count: BigUint64Array): number;
  cuGraphLaunch(executable: number, stream: number): number;
  cuGraphExecDestroy(executable: number): number;
  cuGraphDestroy(graph: number): number;
  cuEventCreate(event: BigUint64Array, flags: number): number;
  cuEventRecord(event: number, stream: number): number;
  cuEventQuery(event: number): number;
  cuEventSynchronize(event: number): number;
  cuEventElapsedTime(milliseconds: Float32Array, start: number, end: number): number;
  cuEventDestroy(event: number): number;
  cuModuleLoadData(module: BigUint64Array, image: Uint8Array): number;
  cuModuleUnload(module: number): number;
  cuModuleGetFunction(kernel: BigUint64Array, module: number, name: string): number;
  cuFuncSetAttribute(kernel: number, attribute: number, value: number): number;
  cuFuncGetAttribute(value: Int32Array, attribute: number, kernel: number): number;
  cuTensorMapEncodeTiled(
    map: Uint8Array,
    type: number,
    rank: number,
    address: number,
    size: BigUint64Array,
    strides: BigUint64Array,
    box: Uint32Array,
    elementStrides: Uint32Array,
    interleave: number,
    swizzle: number,
    promotion: number,
    fill: number,
  ): number;
  cuLaunchKernel(
    kernel: number,
    gridX: number,
    gridY: number,
    gridZ: number,
    blockX: number,
    blockY: number,
    blockZ: number,
    sharedBytes: number,
    stream: number,
    parameters: number,
    extra: number,
  ): number;
}

/** Result codes that Orrery tells apart. */
export const CUresult = { SUCCESS: 0, OUT_OF_MEMORY: 2, NOT_READY: 600 } as const;

export const CUdevice_attribute = {
  MULTIPROCESSOR_COUNT: 16,
  COMPUTE_CAPABILITY_MAJOR: 75,
  COMPUTE_CAPABILITY_MINOR: 76,
  MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: 97,
} as const;

export const CU_STREAM_NON_BLOCKING = 1;
export const CU_STREAM_CAPTURE_MODE_RELAXED = 2;
export const CU_EVENT_DEFAULT = 0;
export const CU_EVENT_DISABLE_TIMING = 2;
export const CU_MEMHOSTALLOC_PORTABLE = 1;
export const CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0;
export const CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9;
export const CU_TENSOR_MAP_SWIZZLE_64B = 2;
export const CU_TENSOR_MAP_SWIZZLE_128B = 3;
export const CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3;
export const CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8;

/**
 * Opens the driver.
 * @throws NativeError where there is no NVIDIA driver.
 */
export function openDriver(): Driver {
  const library = openLibrary(['libcuda.so.1', 'libcuda.so'], { keep: true });
  const declare = library.declare;
  return {
    cuInit: declare('cuInit', 'int', ['uint32_t']),
    cuDriverGetVersion: declare('cuDriverGetVersion', 'int', ['void *']),
    cuGetErrorName: declare('cuGetErrorName', 'int', ['int', 'void *']),
    cuGetErrorString: declare('cuGetErrorString', 'int', ['int', 'void *']),
    cuDeviceGetCount: declare('cuDeviceGetCount', 'int', ['void *']),
    cuDeviceGet: declare('cuDeviceGet', 'int', ['void *', 'int']),
    cuDeviceGetName: declare('cuDeviceGetName', 'int', ['void *', 'int', 'int']),
    cuDeviceGetAttribute: declare('cuDeviceGetAttribute', 'int', ['void *', 'int', 'int']),
    cuDeviceTotalMem: declare('cuDeviceTotalMem_v2', 'int', ['void *', 'int']),
    cuDevicePrimaryCtxRetain: declare('cuDevicePrimaryCtxRetain', 'int', ['void *', 'int']),
    cuDevicePrimaryCtxRelease: declare('cuDevicePrimaryCtxRelease_v2', 'int', ['int']),
    cuCtxSetCurrent: declare('cuCtxSetCurrent', 'int', ['uintptr_t']),
    cuMemGetInfo: declare('cuMemGetInfo_v2', 'int', ['void *', 'void *']),
    cuMemAlloc: declare('cuMemAlloc_v2', 'int', ['void *', 'size_t']),
    cuMemFree: declare('cuMemFree_v2', 'int', ['uintptr_t']),
    cuMemHostAlloc: declare('cuMemHostAlloc', 'int', ['void *', 'size_t', 'uint32_t']),
    cuMemFreeHost: declare('cuMemFreeHost', 'int', ['uintptr_t']),
    cuMemcpyHtoDAsync: declare('cuMemcpyHtoDAsync_v2', 'int', ['uintptr_t', 'void *', 'size_t', 'uintptr_t']),
    cuMemcpyDtoHAsync: declare('cuMemcpyDtoHAsync_v2', 'int', ['void *', 'uintptr_t', 'size_t', 'uintptr_t']),
    cuMemcpyDtoDAsync: declare('cuMemcpyDtoDAsync_v2', 'int', ['uintptr_t', 'uintptr_t', 'size_t', 'uintptr_t']),
    cuMemsetD8Async: declare('cuMemsetD8Async', 'int', ['uintptr_t', 'uint32_t', 'size_t', 'uintptr_t']),
    cuStreamCreate: declare('cuStreamCreate', 'int', ['void *', 'uint32_t']),
    cuStreamDestroy: declare('cuStreamDestroy_v2', 'int', ['uintptr_t']),
    cuStreamSynchronize: declare('cuStreamSynchronize', 'int', ['uintptr_t']),
    cuStreamBeginCapture: declare('cuStreamBeginCapture_v2', 'int', ['uintptr_t', 'int']),
    cuStreamEndCapture: declare('cuStreamEndCapture', 'int', ['uintptr_t', 'void *']),
    cuStreamWaitEvent: declare('cuStreamWaitEvent', 'int', ['uintptr_t', 'uintptr_t', 'uint32_t']),
    cuGraphInstantiateWithFlags: declare('cuGraphInstantiateWithFlags', 'int', ['void *', 'uintptr_t', 'uint64_t']),
    cuGraphGetNodes: declare('cuGraphGetNodes', 'int', ['uintptr_t', 'void *', 'void *']),
    cuGraphLaunch: declare('cuGraphLaunch', 'int', ['uintptr_t', 'uintptr_t']),
    cuGraphExecDestroy: declare('cuGraphExecDestroy', 'int', ['uintptr_t']),
    cuGraphDestroy: declare('cuGraphDestroy', 'int', ['uintptr_t']),
    cuEventCreate: declare('cuEventCreate', 'int', ['void *', 'uint32_t']),
    cuEventRecord: declare('cuEventRecord', 'int', ['uintptr_t', 'uintptr_t']),
    cuEventQuery: declare('cuEventQuery', 'int', ['uintptr_t']),
    cuEventSynchronize: declare('cuEventSynchronize', 'int', ['uintptr_t']),
    cuEventElapsedTime: declare('cuEventElapsedTime', 'int', ['void *', 'uintptr_t', 'uintptr_t']),
    cuEventDestroy: declare('cuEventDestroy_v2', 'int', ['uintptr_t']),
    cuModuleLoadData: declare('cuModuleLoadData', 'int', ['void *', 'void *']),
    cuModuleUnload: declare('cuModuleUnload', 'int', ['uintptr_t']),
    cuModuleGetFunction: declare('cuModuleGetFunction', 'int', ['void *', 'uintptr_t', 'str']),
    cuFuncSetAttribute: declare('cuFuncSetAttribute', 'int', ['uintptr_t', 'int', 'int']),
    cuFuncGetAttribute: declare('cuFuncGetAttribute', 'int', ['void *', 'int', 'uintptr_t']),
    cuTensorMapEncodeTiled: declare('cuTensorMapEncodeTiled', 'int', [
      'void *',
      'int',
      'uint32_t',
      'uintptr_t',
      'void *',
      'void *',
      'void *',
      'void *',
      'int',
      'int',
      'int',
      'int',
    ]),
    cuLaunchKernel: declare('cuLaunchKernel', 'int', [
      'uintptr_t',
      'uint32_t',
      'uint32_t',
      'uint32_t',
      'uint32_t',
      'uint32_t',
      'uint32_t',
      'uint32_t',
      'uintptr_t',
      'uintptr_t',
      'uintptr_t',
    ]),
  };
}
