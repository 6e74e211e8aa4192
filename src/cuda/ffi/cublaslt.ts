// Matrix products by cuBLASLt, under NVIDIA's names. Source: cublasLt.h of CUDA 12 and 13; values are the same in both.
import { openCudaLibrary } from './libraries.js';

export interface CublasLt {
  cublasLtGetVersion(): number;
  cublasLtGetStatusString(status: number): string | null;
  cublasLtCreate(handle: BigUint64Array): number;
  cublasLtDestroy(handle: number): number;
  cublasLtMatmulDescCreate(description: BigUint64Array, computeType: number, scaleType: number): number;
  cublasLtMatmulDescSetAttribute(description: number, attribute: number, value: ArrayBufferView, bytes: number): number;
  cublasLtMatmulDescDestroy(description: number): number;
  cublasLtMatrixLayoutCreate(
    layout: BigUint64Array,
    type: number,
    rows: number,
    columns: number,
    leadingDimension: number,
  ): number;
  cublasLtMatrixLayoutSetAttribute(layout: number, attribute: number, value: ArrayBufferView, bytes: number): number;
  cublasLtMatrixLayoutDestroy(layout: number): number;
  cublasLtMatmulPreferenceCreate(preference: BigUint64Array): number;
  cublasLtMatmulPreferenceSetAttribute(
    preference: number,
    attribute: number,
    value: ArrayBufferView,
    bytes: number,
  ): number;
  cublasLtMatmulPreferenceDestroy(preference: number): number;
  /** `results` holds `wanted` entries of `heuristicBytes`; `found` how many were written. */
  cublasLtMatmulAlgoGetHeuristic(
    handle: number,
    description: number,
    a: number,
    b: number,
    c: number,
    d: number,
    preference: number,
    wanted: number,
    results: Uint8Array,
    found: Int32Array,
  ): number;
  cublasLtMatmul(
    handle: number,
    description: number,
    alpha: Float32Array,
    a: number,
    aLayout: number,
    b: number,
    bLayout: number,
    beta: Float32Array,
    c: number,
    cLayout: number,
    d: number,
    dLayout: number,
    algorithm: Uint8Array,
    workspace: number,
    workspaceBytes: number,
    stream: number,
  ): number;
}

export const cublasStatus = { SUCCESS: 0, INVALID_VALUE: 7, NOT_SUPPORTED: 15 } as const;
export const cudaDataType = { R_32F: 0, R_16F: 2, R_16BF: 14, R_8F_E4M3: 28, R_8F_E5M2: 29 } as const;
export const CUBLAS_COMPUTE_32F = 68;
export const cublasOperation = { N: 0, T: 1 } as const;
export const cublasLtEpilogue = { DEFAULT: 1, BIAS: 4 } as const;
export const cublasLtMatmulDesc = {
  TRANSA: 3,
  TRANSB: 4,
  EPILOGUE: 7,
  BIAS_POINTER: 8,
  A_SCALE_POINTER: 17,
  B_SCALE_POINTER: 18,
  FAST_ACCUM: 25,
  BIAS_DATA_TYPE: 26,
  A_SCALE_MODE: 31,
  B_SCALE_MODE: 32,
} as const;
/** Factors of a matrix: one, or one for each of its outer vectors (cuBLAS 12.9 and later, sm_90). */
export const cublasLtMatmulMatrixScale = { SCALAR_32F: 0, OUTER_VEC_32F: 3 } as const;
export const cublasLtMatrixLayout = { BATCH_COUNT: 5, STRIDED_BATCH_OFFSET: 6 } as const;
export const cublasLtMatmulPreference = {
  MAX_WORKSPACE_BYTES: 1,
  MIN_ALIGNMENT_A_BYTES: 5,
  MIN_ALIGNMENT_B_BYTES: 6,
  MIN_ALIGNMENT_C_BYTES: 7,
  MIN_ALIGNMENT_D_BYTES: 8,
} as const;

/** `cublasLtMatmulHeuristicResult_t`: the algorithm, its workspace, its state, waves, reserved words. */
export const heuristicBytes = 96;
export const algorithmBytes = 64;
/** Offset of the state in a heuristic result. */
export const heuristicStateOffset = 72;

/** @throws NativeError naming every place that was tried. */
export function openCublasLt(roots: readonly string[]): CublasLt {
  const { declare } = openCudaLibrary('cublasLt', roots, [13, 12]);
  const handle = 'uintptr_t' as const;
  const attribute = [handle, 'int', 'void *', 'size_t'] as const;
  return {
    cublasLtGetVersion: toNumber(declare('cublasLtGetVersion', 'size_t', [])),
    cublasLtGetStatusString: declare('cublasLtGetStatusString', 'str', ['int']),
    cublasLtCreate: declare('cublasLtCreate', 'int', ['void *']),
    cublasLtDestroy: declare('cublasLtDestroy', 'int', [handle]),
    cublasLtMatmulDescCreate: declare('cublasLtMatmulDescCreate', 'int', ['void *', 'int', 'int']),
    cublasLtMatmulDescSetAttribute: declare('cublasLtMatmulDescSetAttribute', 'int', attribute),
    cublasLtMatmulDescDestroy: declare('cublasLtMatmulDescDestroy', 'int', [handle]),
    cublasLtMatrixLayoutCreate: declare('cublasLtMatrixLayoutCreate', 'int', [
      'void *',
      'int',
      'uint64_t',
      'uint64_t',
      'int64_t',
    ]),
    cublasLtMatrixLayoutSetAttribute: declare('cublasLtMatrixLayoutSetAttribute', 'int', attribute),
    cublasLtMatrixLayoutDestroy: declare('cublasLtMatrixLayoutDestroy', 'int', [handle]),
    cublasLtMatmulPreferenceCreate: declare('cublasLtMatmulPreferenceCreate', 'int', ['void *']),
    cublasLtMatmulPreferenceSetAttribute: declare('cublasLtMatmulPreferenceSetAttribute', 'int', attribute),
    cublasLtMatmulPreferenceDestroy: declare('cublasLtMatmulPreferenceDestroy', 'int', [handle]),
    cublasLtMatmulAlgoGetHeuristic: declare('cublasLtMatmulAlgoGetHeuristic', 'int', [
      handle,
      handle,
      handle,
      handle,
      handle,
      handle,
      handle,
      'int',
      'void *',
      'void *',
    ]),
    cublasLtMatmul: declare('cublasLtMatmul', 'int', [
      handle,
      handle,
      'void *',
      handle,
      handle,
      handle,
      handle,
      'void *',
      handle,
      handle,
      handle,
      handle,
      'void *',
      handle,
      'size_t',
      handle,
    ]),
  };
}

function toNumber(call: () => number | bigint): () => number {
  return () => Number(call());
}
