// cuDNN's backend (graph) interface, under NVIDIA's names. Source: cudnn_graph.h of cuDNN 9; values are the same from 9.13 on.
import { openLibrary } from '../../native/index.js';
import { findLibrary, openCudaLibrary } from './libraries.js';

export interface Cudnn {
  cudnnGetVersion(): number;
  cudnnGetErrorString(status: number): string | null;
  /** Writes the words of this thread's last failure, ended by a zero. */
  cudnnGetLastErrorString(message: Uint8Array, bytes: number): undefined;
  cudnnCreate(handle: BigUint64Array): number;
  cudnnDestroy(handle: number): number;
  cudnnSetStream(handle: number, stream: number): number;
  cudnnBackendCreateDescriptor(type: number, descriptor: BigUint64Array): number;
  cudnnBackendDestroyDescriptor(descriptor: number): number;
  cudnnBackendSetAttribute(
    descriptor: number,
    name: number,
    type: number,
    count: number,
    elements: ArrayBufferView,
  ): number;
  /** Writes up to `wanted` elements, and to `count` how many there are. */
  cudnnBackendGetAttribute(
    descriptor: number,
    name: number,
    type: number,
    wanted: number,
    count: BigInt64Array,
    elements: ArrayBufferView | null,
  ): number;
  cudnnBackendFinalize(descriptor: number): number;
  cudnnBackendExecute(handle: number, plan: number, variantPack: number): number;
}

export const cudnnDataType = { FLOAT: 0, INT32: 4, BFLOAT16: 9 } as const;
export const CUDNN_CROSS_CORRELATION = 1;
export const CUDNN_POINTWISE_ADD = 0;
export const cudnnBackendHeurMode = { FALLBACK: 2, A: 3 } as const;

export const cudnnBackendAttributeType = {
  HANDLE: 0,
  DATA_TYPE: 1,
  BOOLEAN: 2,
  INT64: 3,
  FLOAT: 4,
  VOID_PTR: 6,
  CONVOLUTION_MODE: 7,
  HEUR_MODE: 8,
  POINTWISE_MODE: 14,
  BACKEND_DESCRIPTOR: 15,
  CHAR: 24,
} as const;

export const cudnnBackendDescriptorType = {
  POINTWISE: 0,
  CONVOLUTION: 1,
  ENGINE: 2,
  ENGINECFG: 3,
  ENGINEHEUR: 4,
  EXECUTION_PLAN: 5,
  OPERATION_CONVOLUTION_FORWARD: 10,
  OPERATION_POINTWISE: 13,
  OPERATIONGRAPH: 15,
  VARIANT_PACK: 16,
  TENSOR: 17,
  OPERATION_SDPA_FWD: 41,
} as const;

export const cudnnBackendAttributeName = {
  POINTWISE_MODE: 0,
  POINTWISE_MATH_PREC: 1,
  CONVOLUTION_COMP_TYPE: 100,
  CONVOLUTION_CONV_MODE: 101,
  CONVOLUTION_DILATIONS: 102,
  CONVOLUTION_FILTER_STRIDES: 103,
  CONVOLUTION_POST_PADDINGS: 104,
  CONVOLUTION_PRE_PADDINGS: 105,
  CONVOLUTION_SPATIAL_DIMS: 106,
  ENGINEHEUR_MODE: 200,
  ENGINEHEUR_OPERATION_GRAPH: 201,
  ENGINEHEUR_RESULTS: 202,
  ENGINECFG_ENGINE: 300,
  EXECUTION_PLAN_HANDLE: 400,
  EXECUTION_PLAN_ENGINE_CONFIG: 401,
  EXECUTION_PLAN_WORKSPACE_SIZE: 402,
  EXECUTION_PLAN_JSON_REPRESENTATION: 405,
  OPERATION_CONVOLUTION_FORWARD_ALPHA: 700,
  OPERATION_CONVOLUTION_FORWARD_BETA: 701,
  OPERATION_CONVOLUTION_FORWARD_CONV_DESC: 702,
  OPERATION_CONVOLUTION_FORWARD_W: 703,
  OPERATION_CONVOLUTION_FORWARD_X: 704,
  OPERATION_CONVOLUTION_FORWARD_Y: 705,
  OPERATION_POINTWISE_PW_DESCRIPTOR: 750,
  OPERATION_POINTWISE_XDESC: 751,
  OPERATION_POINTWISE_BDESC: 752,
  OPERATION_POINTWISE_YDESC: 753,
  OPERATIONGRAPH_HANDLE: 800,
  OPERATIONGRAPH_OPS: 801,
  TENSOR_BYTE_ALIGNMENT: 900,
  TENSOR_DATA_TYPE: 901,
  TENSOR_DIMENSIONS: 902,
  TENSOR_STRIDES: 903,
  TENSOR_UNIQUE_ID: 906,
  TENSOR_IS_VIRTUAL: 907,
  TENSOR_IS_BY_VALUE: 908,
  VARIANT_PACK_UNIQUE_IDS: 1000,
  VARIANT_PACK_DATA_POINTERS: 1001,
  VARIANT_PACK_WORKSPACE: 1003,
  ENGINE_GLOBAL_INDEX: 1301,
  OPERATION_SDPA_FWD_QDESC: 2800,
  OPERATION_SDPA_FWD_KDESC: 2801,
  OPERATION_SDPA_FWD_VDESC: 2802,
  OPERATION_SDPA_FWD_ODESC: 2803,
  OPERATION_SDPA_FWD_SCALEDESC: 2805,
  OPERATION_SDPA_FWD_SEQ_LEN_QDESC: 2809,
  OPERATION_SDPA_FWD_SEQ_LEN_KVDESC: 2810,
} as const;

/**
 * Opens cuDNN. Its parts are libraries of their own, which it opens from its own folder when they are first needed.
 * @throws NativeError naming every place that was tried for it, or for the cuBLASLt that it needs.
 */
export function openCudnn(roots: readonly string[]): Cudnn {
  const { declare } = openCudaLibrary('cudnn', roots, [9]);
  const handle = 'uintptr_t' as const;
  // It ends the process where the cuBLASLt it was built with cannot be found: better an error here.
  const major = Math.floor(Number(declare('cudnnGetCudartVersion', 'size_t', [])()) / 1000);
  const blas = `libcublasLt.so.${major}`;
  if (major > 0)
    openLibrary([...findLibrary('cublasLt', roots).filter((path) => path.includes(blas)), blas], { keep: true });
  const version = declare('cudnnGetVersion', 'size_t', []);
  return {
    cudnnGetVersion: () => Number(version()),
    cudnnGetErrorString: declare('cudnnGetErrorString', 'str', ['int']),
    cudnnGetLastErrorString: declare('cudnnGetLastErrorString', 'void', ['void *', 'size_t']),
    cudnnCreate: declare('cudnnCreate', 'int', ['void *']),
    cudnnDestroy: declare('cudnnDestroy', 'int', [handle]),
    cudnnSetStream: declare('cudnnSetStream', 'int', [handle, handle]),
    cudnnBackendCreateDescriptor: declare('cudnnBackendCreateDescriptor', 'int', ['int', 'void *']),
    cudnnBackendDestroyDescriptor: declare('cudnnBackendDestroyDescriptor', 'int', [handle]),
    cudnnBackendSetAttribute: declare('cudnnBackendSetAttribute', 'int', [handle, 'int', 'int', 'int64_t', 'void *']),
    cudnnBackendGetAttribute: declare('cudnnBackendGetAttribute', 'int', [
      handle,
      'int',
      'int',
      'int64_t',
      'void *',
      'void *',
    ]),
    cudnnBackendFinalize: declare('cudnnBackendFinalize', 'int', [handle]),
    cudnnBackendExecute: declare('cudnnBackendExecute', 'int', [handle, handle, handle]),
  };
}
