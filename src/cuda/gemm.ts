// Matrix products by cuBLASLt: rows times stored rows, float32 accumulation. The algorithm is the library's first choice for a shape,
// which depends on shape, dtypes, library and chip alone, or the fastest of its first few, timed once and kept on disk.
// Shapes it does not serve go to our own kernel.
import { type DType, dtypeBytes } from '../backend/index.js';
import {
  algorithmBytes,
  CUBLAS_COMPUTE_32F,
  type CublasLt,
  cublasLtEpilogue,
  cublasLtMatmulDesc,
  cublasLtMatmulMatrixScale,
  cublasLtMatmulPreference,
  cublasLtMatrixLayout,
  cublasOperation,
  cublasStatus,
  cudaDataType,
  heuristicBytes,
  heuristicStateOffset,
} from './ffi/cublaslt.js';
import { CudaError } from './ffi/errors.js';
import { type AlgorithmChoice, chooseAlgorithm } from './gemm-tuning.js';
import { widestUnit } from './kernels/elementwise.js';
import { launchConv, productSizes } from './kernels/products/conv.js';
import type { FloatType, MatrixOperand, OperandType, Product } from './product.js';
import { firstOf } from './runtime/device.js';
import type { ImageCache } from './runtime/image-cache.js';
import type { Runtime } from './runtime/runtime.js';

export interface GemmOptions {
  /** Where chosen algorithms are kept, to choose by timing; null takes the library's first. */
  readonly choices: ImageCache | null;
  /** Lets FP8 sums keep fewer bits between the steps of a product: faster, less exact. */
  readonly fastAccumulation: boolean;
}

const workspaceBytes = 32 << 20;
const mostPlans = 2048;

/** Algorithms that are timed against each other. */
const mostCandidates = 8;

const libraryTypes: Readonly<Record<OperandType, number>> = {
  f32: cudaDataType.R_32F,
  bf16: cudaDataType.R_16BF,
  f8e4m3: cudaDataType.R_8F_E4M3,
};

interface Plan extends AlgorithmChoice {
  readonly description: number;
  readonly layouts: readonly [w: number, x: number, out: number];
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
  readonly #options: GemmOptions;

  constructor(r: Runtime, lt: CublasLt, options: GemmOptions = { choices: null, fastAccumulation: false }) {
    this.#r = r;
    this.#lt = lt;
    this.#options = options;
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
    if (product.m === 0 || product.n === 0 || this.tryMultiply(product)) return;
    this.#multiplyPlainly(product);
  }

  /**
   * Multiplies where the library serves the product; false where it does not.
   * @throws CudaError when the library fails
   */
  tryMultiply(product: Product): boolean {
    const plan = this.#isServed(product) ? this.#planFor(product) : null;
    if (plan === null) return false;
    if (this.#r.stream.isRehearsing) return true;
    const { m, n, k } = product;
    const code = this.#enqueue(plan, product, this.#r.stream.handle);
    if (code !== 0) this.#check(`cublasLtMatmul(${m}x${n}x${k})`, code);
    return true;
  }

  [Symbol.dispose](): void {
    for (const plan of this.#plans.values()) if (plan) this.#destroy(plan);
    this.#plans.clear();
    this.#lt.cublasLtMatmulPreferenceDestroy(this.#preference);
    this.#lt.cublasLtDestroy(this.#handle);
    this.#r.pool.free(this.#workspace);
  }

  /** Whether the library takes a product; a refusal is no error. */
  probe(product: Product): boolean {
    const described = this.#isServed(product) ? this.#planFor(product) : null;
    return described !== null && this.#enqueue(described, product, this.#r.stream.handle) === cublasStatus.SUCCESS;
  }

  #enqueue(plan: Plan, { x, w, out, bias = 0, scales, accumulate = false }: Product, stream: number): number {
    const { description, algorithm, workspace } = plan;
    if (bias !== 0) this.#point(description, cublasLtMatmulDesc.BIAS_POINTER, bias);
    if (scales) {
      this.#point(description, cublasLtMatmulDesc.A_SCALE_POINTER, scales.w);
      this.#point(description, cublasLtMatmulDesc.B_SCALE_POINTER, scales.x);
    }
    const [wLayout, xLayout, outLayout] = plan.layouts;
    return this.#lt.cublasLtMatmul(
      this.#handle,
      description,
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
      algorithm,
      this.#workspace,
      workspace,
      stream,
    );
  }

  #point(description: number, attribute: number, address: number): void {
    this.#pointer[0] = BigInt(address);
    this.#describe(description, attribute, this.#pointer);
  }

  /** Tensor cores read runs of 16 bytes: what is not aligned to them is our kernel's. */
  #isServed({ x, w, out, n, k, wIsTransposed = false }: Product): boolean {
    if (k === 0) return false;
    if (x.dtype === 'f8e4m3')
      return [x, w, out].every((operand) => alignmentOf(operand) >= 16) && k % 16 === 0 && n % 16 === 0;
    if (x.dtype === 'f32') return true;
    return [x, w, out].every((operand) => alignmentOf(operand) >= 16) && k % 8 === 0 && (n % 8 === 0 || !wIsTransposed);
  }

  #multiplyPlainly({ m, n, k, x, w, out, bias = 0, batch = 1, ...rest }: Product): void {
    const isDense = x.pitch === k && w.pitch === k && out.pitch === n;
    if (
      batch !== 1 ||
      rest.wIsTransposed ||
      rest.accumulate ||
      !isDense ||
      x.dtype === 'f8e4m3' ||
      out.dtype === 'f8e4m3'
    )
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
    const kind = `${batch} ${wIsTransposed} ${bias !== 0} ${product.scales !== undefined}`;
    const key = `${m}x${n}x${k} ${operands.join(' ')} ${kind}`;
    const known = this.#plans.get(key);
    if (known !== undefined) return known;
    if (this.#plans.size >= mostPlans) this.#forgetOldest();
    const plan = this.#makePlan(product, key);
    this.#plans.set(key, plan);
    return plan;
  }

  // The library counts columns first: a row-major matrix is its transpose there, so w comes first and sizes swap.
  #makePlan(product: Product, key: string): Plan | null {
    const { m, n, k, x, w, out, batch = 1, wIsTransposed = false } = product;
    const description = this.#describeProduct(product);
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
    const chosen = this.#choose(product, { description, layouts }, key);
    if (chosen) return { description, layouts, ...chosen };
    this.#destroy({ description, layouts });
    return null;
  }

  #describeProduct({ x, out, bias = 0, wIsTransposed = false, scales }: Product): number {
    const lt = this.#lt;
    const description = this.#create('cublasLtMatmulDescCreate', (handle) =>
      lt.cublasLtMatmulDescCreate(handle, CUBLAS_COMPUTE_32F, cudaDataType.R_32F),
    );
    const operation = wIsTransposed ? cublasOperation.N : cublasOperation.T;
    this.#describe(description, cublasLtMatmulDesc.TRANSA, Int32Array.of(operation));
    if (bias !== 0) {
      this.#describe(description, cublasLtMatmulDesc.EPILOGUE, Uint32Array.of(cublasLtEpilogue.BIAS));
      this.#describe(description, cublasLtMatmulDesc.BIAS_DATA_TYPE, Int32Array.of(libraryTypes[out.dtype]));
      this.#point(description, cublasLtMatmulDesc.BIAS_POINTER, bias);
    }
    if (x.dtype === 'f8e4m3' && this.#options.fastAccumulation)
      this.#describe(description, cublasLtMatmulDesc.FAST_ACCUM, Int8Array.of(1));
    if (scales) {
      const mode = Int32Array.of(cublasLtMatmulMatrixScale.OUTER_VEC_32F);
      this.#describe(description, cublasLtMatmulDesc.A_SCALE_MODE, mode);
      this.#describe(description, cublasLtMatmulDesc.B_SCALE_MODE, mode);
      this.#point(description, cublasLtMatmulDesc.A_SCALE_POINTER, scales.w);
      this.#point(description, cublasLtMatmulDesc.B_SCALE_POINTER, scales.x);
    }
    return description;
  }

  /** The library's first algorithm, or the fastest of its first; null where it has none. */
  #choose(product: Product, described: Pick<Plan, 'description' | 'layouts'>, key: string): AlgorithmChoice | null {
    const { choices, fastAccumulation } = this.#options;
    const { wIsTransposed = false, batch = 1, accumulate = false } = product;
    if (choices === null || wIsTransposed || batch !== 1 || accumulate)
      return this.#candidates(described, 1)[0] ?? null;
    return chooseAlgorithm(this.#r, {
      key: `cublasLt ${this.version} ${key}${fastAccumulation ? ' fast' : ''}`,
      choices,
      product,
      candidates: () => this.#candidates(described, mostCandidates),
      run: (choice, operands, stream) => this.#enqueue({ ...described, ...choice }, operands, stream) === 0,
    });
  }

  #candidates({ description, layouts }: Pick<Plan, 'description' | 'layouts'>, wanted: number): AlgorithmChoice[] {
    const results = new Uint8Array(heuristicBytes * wanted);
    const found = new Int32Array(1);
    const [a, b, c] = layouts;
    const [handle, preference] = [this.#handle, this.#preference];
    const heuristic = this.#lt.cublasLtMatmulAlgoGetHeuristic;
    const code = heuristic(handle, description, a, b, c, c, preference, wanted, results, found);
    if (code !== cublasStatus.SUCCESS && code !== cublasStatus.NOT_SUPPORTED && code !== cublasStatus.INVALID_VALUE)
      this.#check('cublasLtMatmulAlgoGetHeuristic', code);
    if (code !== cublasStatus.SUCCESS) return [];
    return Array.from({ length: firstOf(found) }, (_, i) =>
      results.subarray(i * heuristicBytes, (i + 1) * heuristicBytes),
    )
      .map((result) => ({ result, view: new DataView(result.buffer, result.byteOffset, result.byteLength) }))
      .filter(({ view }) => view.getInt32(heuristicStateOffset, true) === cublasStatus.SUCCESS)
      .map(({ result, view }) => ({
        algorithm: result.slice(0, algorithmBytes),
        workspace: Number(view.getBigUint64(algorithmBytes, true)),
      }));
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

  #destroy({ description, layouts }: Pick<Plan, 'description' | 'layouts'>): void {
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
