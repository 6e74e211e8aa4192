// Matrix products by cuBLASLt: rows times stored rows, float32 accumulation. The algorithm is the library's first choice for a shape,
// which depends on shape, dtypes, library and chip alone. Shapes it does not serve go to our own kernel.
import { type DType, dtypeBytes, elementCount } from '../backend/index.js';
import {
  algorithmBytes,
  CUBLAS_COMPUTE_32F,
  type CublasLt,
  cublasLtEpilogue,
  cublasLtMatmulDesc,
  cublasLtMatmulPreference,
  cublasLtMatrixLayout,
  cublasOperation,
  cublasStatus,
  cudaDataType,
  heuristicBytes,
} from './ffi/cublaslt.js';
import { CudaError } from './ffi/errors.js';
import { widestUnit } from './kernels/elementwise.js';
import { launchConv, productSizes } from './kernels/products/conv.js';
import { firstOf } from './runtime/device.js';
import type { Runtime } from './runtime/runtime.js';

type FloatType = 'f32' | 'bf16';

/** A row-major operand: address of its first element, elements from row to row and from batch to batch. */
export interface MatrixOperand {
  readonly address: number;
  readonly dtype: FloatType;
  readonly pitch: number;
  readonly batchStride?: number;
}

/** `out [m, n] = x [m, k] w^T (+ bias) (+ out)`, where `w` is `[n, k]`, or `[k, n]` when `wIsTransposed`. */
export interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly x: MatrixOperand;
  readonly w: MatrixOperand;
  readonly out: MatrixOperand;
  readonly wIsTransposed?: boolean;
  /** Of the output's dtype, `[n]`. */
  readonly bias?: number;
  readonly batch?: number;
  /** Adds to what `out` holds. */
  readonly accumulate?: boolean;
}

const workspaceBytes = 32 << 20;
const mostPlans = 2048;

const libraryTypes: Readonly<Record<FloatType, number>> = { f32: cudaDataType.R_32F, bf16: cudaDataType.R_16BF };

interface Plan {
  readonly description: number;
  readonly layouts: readonly [w: number, x: number, out: number];
  readonly algorithm: Uint8Array;
  readonly workspace: number;
}

/** Alignment that the library may rely on, bytes. */
const alignmentOf = ({ address, pitch, dtype, batchStride = 0 }: MatrixOperand) =>
  widestUnit(
    256,
    [address, pitch * dtypeBytes(dtype), batchStride * dtypeBytes(dtype)].map((x) => x || 256),
  );

export class Gemm implements Disposable {
  readonly #r: Runtime;
  readonly #lt: CublasLt;
  readonly #handle: number;
  readonly #workspace: number;
  readonly #preference: number;
  /** Null where the library has no algorithm. */
  readonly #plans = new Map<string, Plan | null>();
  readonly #one = Float32Array.of(1);
  readonly #zero = Float32Array.of(0);
  readonly #pointer = new BigUint64Array(1);

  constructor(r: Runtime, lt: CublasLt) {
    this.#r = r;
    this.#lt = lt;
    this.#handle = this.#create('cublasLtCreate', (out) => lt.cublasLtCreate(out));
    this.#preference = this.#create('cublasLtMatmulPreferenceCreate', (out) => lt.cublasLtMatmulPreferenceCreate(out));
    this.#workspace = r.pool.allocate(workspaceBytes);
    const size = BigUint64Array.of(BigInt(workspaceBytes));
    this.#prefer(cublasLtMatmulPreference.MAX_WORKSPACE_BYTES, size);
  }

  /** The library's version, such as 130100. */
  get version(): number {
    return this.#lt.cublasLtGetVersion();
  }

  /** @throws CudaError when the library fails, or serves neither the shape nor our kernel can. */
  multiply(product: Product): void {
    const { m, n, k, x, w, out, bias = 0, accumulate = false } = product;
    if (m === 0 || n === 0) return;
    const plan = this.#isServed(product) ? this.#planFor(product) : null;
    if (plan === null) {
      this.#multiplyPlainly(product);
      return;
    }
    if (bias !== 0) {
      this.#pointer[0] = BigInt(bias);
      this.#describe(plan.description, cublasLtMatmulDesc.BIAS_POINTER, this.#pointer);
    }
    if (this.#r.stream.isRehearsing) return;
    const [wLayout, xLayout, outLayout] = plan.layouts;
    const code = this.#lt.cublasLtMatmul(
      this.#handle,
      plan.description,
      this.#one,
      w.address,
      wLayout,
      x.address,
      xLayout,
      accumulate ? this.#one : this.#zero,
      out.address,
      outLayout,
      out.address,
      outLayout,
      plan.algorithm,
      this.#workspace,
      plan.workspace,
      this.#r.stream.handle,
    );
    if (code !== 0) this.#check(`cublasLtMatmul(${m}x${n}x${k})`, code);
  }

  [Symbol.dispose](): void {
    for (const plan of this.#plans.values()) if (plan) this.#destroy(plan);
    this.#plans.clear();
    this.#lt.cublasLtMatmulPreferenceDestroy(this.#preference);
    this.#lt.cublasLtDestroy(this.#handle);
    this.#r.pool.free(this.#workspace);
  }

  /** Tensor cores read bfloat16 in runs of eight: what is not aligned to them is our kernel's. */
  #isServed({ x, w, out, n, k, wIsTransposed = false }: Product): boolean {
    if (k === 0) return false;
    if (x.dtype === 'f32') return true;
    return [x, w, out].every((operand) => alignmentOf(operand) >= 16) && k % 8 === 0 && (n % 8 === 0 || !wIsTransposed);
  }

  #multiplyPlainly({ m, n, k, x, w, out, bias = 0, batch = 1, ...rest }: Product): void {
    const isDense = x.pitch === k && w.pitch === k && out.pitch === n;
    if (batch !== 1 || rest.wIsTransposed || rest.accumulate || !isDense)
      throw new CudaError('cublasLtMatmulAlgoGetHeuristic', cublasStatus.NOT_SUPPORTED, `no product ${m}x${n}x${k}`);
    launchConv(this.#r, productSizes(m, k, n), {
      dtype: x.dtype,
      outputDtype: out.dtype,
      x: x.address,
      w: w.address,
      y: out.address,
      bias: bias === 0 ? null : { address: bias, dtype: out.dtype },
    });
  }

  #planFor(product: Product): Plan | null {
    const { m, n, k, x, w, out, batch = 1, bias = 0, wIsTransposed = false } = product;
    const operands = [x, w, out].map(
      (operand) => `${operand.dtype}/${operand.pitch}/${operand.batchStride ?? 0}/${alignmentOf(operand)}`,
    );
    const key = `${m}x${n}x${k} ${operands.join(' ')} ${batch} ${wIsTransposed} ${bias !== 0}`;
    const known = this.#plans.get(key);
    if (known !== undefined) return known;
    if (this.#plans.size >= mostPlans) this.#forgetOldest();
    const plan = this.#makePlan(product);
    this.#plans.set(key, plan);
    return plan;
  }

  // The library counts columns first: a row-major matrix is its transpose there, so w comes first and sizes swap.
  #makePlan({ m, n, k, x, w, out, batch = 1, bias = 0, wIsTransposed = false }: Product): Plan | null {
    const lt = this.#lt;
    const description = this.#create('cublasLtMatmulDescCreate', (handle) =>
      lt.cublasLtMatmulDescCreate(handle, CUBLAS_COMPUTE_32F, cudaDataType.R_32F),
    );
    const operation = wIsTransposed ? cublasOperation.N : cublasOperation.T;
    this.#describe(description, cublasLtMatmulDesc.TRANSA, Int32Array.of(operation));
    if (bias !== 0) {
      this.#describe(description, cublasLtMatmulDesc.EPILOGUE, Uint32Array.of(cublasLtEpilogue.BIAS));
      this.#describe(description, cublasLtMatmulDesc.BIAS_DATA_TYPE, Int32Array.of(libraryTypes[out.dtype]));
      this.#describe(description, cublasLtMatmulDesc.BIAS_POINTER, BigUint64Array.of(BigInt(bias)));
    }
    const layouts = [
      wIsTransposed ? this.#layout(w, n, k, batch) : this.#layout(w, k, n, batch),
      this.#layout(x, k, m, batch),
      this.#layout(out, n, m, batch),
    ] as const;
    const { MIN_ALIGNMENT_A_BYTES, MIN_ALIGNMENT_B_BYTES, MIN_ALIGNMENT_C_BYTES, MIN_ALIGNMENT_D_BYTES } =
      cublasLtMatmulPreference;
    this.#prefer(MIN_ALIGNMENT_A_BYTES, Uint32Array.of(alignmentOf(w)));
    this.#prefer(MIN_ALIGNMENT_B_BYTES, Uint32Array.of(alignmentOf(x)));
    this.#prefer(MIN_ALIGNMENT_C_BYTES, Uint32Array.of(alignmentOf(out)));
    this.#prefer(MIN_ALIGNMENT_D_BYTES, Uint32Array.of(alignmentOf(out)));
    const result = new Uint8Array(heuristicBytes);
    const found = new Int32Array(1);
    const [a, b, c] = layouts;
    const code = lt.cublasLtMatmulAlgoGetHeuristic(
      this.#handle,
      description,
      a,
      b,
      c,
      c,
      this.#preference,
      1,
      result,
      found,
    );
    const workspace = Number(new DataView(result.buffer).getBigUint64(algorithmBytes, true));
    const plan: Plan = { description, layouts, algorithm: result.subarray(0, algorithmBytes), workspace };
    if (code === cublasStatus.SUCCESS && firstOf(found) > 0) return plan;
    this.#destroy(plan);
    if (code !== cublasStatus.SUCCESS && code !== cublasStatus.NOT_SUPPORTED)
      this.#check(`cublasLtMatmulAlgoGetHeuristic(${m}x${n}x${k})`, code);
    return null;
  }

  #layout({ dtype, pitch, batchStride = 0 }: MatrixOperand, rows: number, columns: number, batch: number): number {
    const lt = this.#lt;
    const layout = this.#create('cublasLtMatrixLayoutCreate', (out) =>
      lt.cublasLtMatrixLayoutCreate(out, libraryTypes[dtype], rows, columns, pitch),
    );
    if (batch > 1) {
      const set = (attribute: number, value: ArrayBufferView) =>
        this.#check(
          'cublasLtMatrixLayoutSetAttribute',
          lt.cublasLtMatrixLayoutSetAttribute(layout, attribute, value, value.byteLength),
        );
      set(cublasLtMatrixLayout.BATCH_COUNT, Int32Array.of(batch));
      set(cublasLtMatrixLayout.STRIDED_BATCH_OFFSET, BigInt64Array.of(BigInt(batchStride)));
    }
    return layout;
  }

  #forgetOldest(): void {
    const oldest = this.#plans.entries().next();
    if (oldest.done) return;
    const [key, plan] = oldest.value;
    this.#plans.delete(key);
    if (plan) this.#destroy(plan);
  }

  #destroy({ description, layouts }: Plan): void {
    this.#lt.cublasLtMatmulDescDestroy(description);
    for (const layout of layouts) this.#lt.cublasLtMatrixLayoutDestroy(layout);
  }

  #create(call: string, make: (out: BigUint64Array) => number): number {
    const out = new BigUint64Array(1);
    this.#check(call, make(out));
    return firstOf(out);
  }

  #describe(description: number, attribute: number, value: ArrayBufferView): void {
    const code = this.#lt.cublasLtMatmulDescSetAttribute(description, attribute, value, value.byteLength);
    this.#check('cublasLtMatmulDescSetAttribute', code);
  }

  #prefer(attribute: number, value: ArrayBufferView): void {
    const code = this.#lt.cublasLtMatmulPreferenceSetAttribute(this.#preference, attribute, value, value.byteLength);
    this.#check('cublasLtMatmulPreferenceSetAttribute', code);
  }

  #check(call: string, code: number): void {
    if (code !== 0) throw new CudaError(call, code, this.#lt.cublasLtGetStatusString(code) ?? '');
  }
}

/** A dtype that products compute in, or an error naming the one that is none. */
export function floatType(op: string, dtype: DType): FloatType {
  if (dtype === 'f32' || dtype === 'bf16') return dtype;
  throw new TypeError(`${op}: ${dtype} elements; products take f32 and bf16`);
}

/** A dense operand `[rows, columns]` at an address. */
export function denseOperand(address: number, dtype: FloatType, shape: readonly number[]): MatrixOperand {
  return { address, dtype, pitch: shape.at(-1) ?? elementCount(shape) };
}
