// Products with FP8 weights: by the library with a factor for each row and column where a real product shows that it can, else without
// factors, which our kernel multiplies into the result, else on rows widened to the dtype that networks compute in.
import type { QuantizedRows, Tensor } from '../backend/index.js';
import { floatType, type Gemm } from './gemm.js';
import { castInto } from './kernels/layout/cast.js';
import { dequantizeRowsInto } from './kernels/products/dequantize-rows.js';
import { finishProduct } from './kernels/products/finish-product.js';
import type { Product } from './product.js';
import type { Runtime } from './runtime/runtime.js';
import { type CudaTensor, own } from './runtime/tensor.js';
import type { Fp8Weight } from './weights/fp8-weight.js';

/** Who applies the factors of FP8 products: the library, our kernel after it, or our kernel after a widened product. */
export type Fp8Serving = 'vector' | 'scalar' | 'widened';

/** The first cuBLAS that knows factors of outer vectors. */
const vectorSince = 120_900;

/** Sizes of the product that shows what the library can. */
const probe = { m: 32, n: 32, k: 64 };

export class Fp8Products {
  readonly #r: Runtime;
  readonly #gemm: Gemm;
  #serving: Fp8Serving | null = null;

  constructor(r: Runtime, gemm: Gemm) {
    this.#r = r;
    this.#gemm = gemm;
  }

  /** Finds out what serves FP8 products, by real ones, where that is not known yet. Not inside a captured region. */
  settle(): void {
    this.#serving ??= this.#findServing();
  }

  /** What serves FP8 products here. */
  get serving(): Fp8Serving {
    this.#serving ??= this.#findServing();
    return this.#serving;
  }

  /** `out [..., N] = rows w^T + bias`. */
  multiply(out: CudaTensor, { values, scales }: QuantizedRows, w: Fp8Weight, bias: CudaTensor | null): void {
    const [n = 0, k = 0] = w.shape;
    const dtype = floatType('matmul', out.dtype);
    const { values: wValues, scales: wScales } = w.addresses;
    const factors = { rows: own(scales).address, columns: wScales };
    const product: Product = {
      m: out.count / n,
      n,
      k,
      x: { address: own(values).address, dtype: 'f8e4m3', pitch: k },
      w: { address: wValues, dtype: 'f8e4m3', pitch: k },
      out: { address: out.address, dtype, pitch: n },
    };
    const { serving } = this;
    if (
      serving === 'vector' &&
      this.#gemm.tryMultiply({ ...product, scales: { x: factors.rows, w: factors.columns } })
    ) {
      finishProduct(this.#r, { y: out, scales: null, bias });
      return;
    }
    if (serving === 'widened' || !this.#gemm.tryMultiply(product)) {
      // E4M3 is exact in either dtype: only the sums are other ones.
      const x = this.#widen(own(values).shape, own(values).address, 0, dtype);
      const rows = this.#widen(w.shape, wValues, 0, dtype);
      this.#gemm.multiply({
        ...product,
        x: { address: x.address, dtype, pitch: k },
        w: { address: rows.address, dtype, pitch: k },
      });
    }
    finishProduct(this.#r, { y: out, scales: factors, bias });
  }

  /** `out [..., N] = x w^T + bias` on the numbers that the weight stands for, widened into a temporary. */
  multiplyWide(out: CudaTensor, x: Tensor, w: Fp8Weight, bias: CudaTensor | null): void {
    const [n = 0, k = 0] = w.shape;
    const dtype = floatType('matmul', x.dtype);
    const { values, scales } = w.addresses;
    const rows = this.#widen(w.shape, values, scales, dtype);
    this.#gemm.multiply({
      m: out.count / n,
      n,
      k,
      x: { address: own(x).address, dtype, pitch: k },
      w: { address: rows.address, dtype, pitch: k },
      out: { address: out.address, dtype, pitch: n },
      ...(bias && { bias: this.#inDtype(bias, dtype).address }),
    });
  }

  #inDtype(x: CudaTensor, dtype: 'f32' | 'bf16'): CudaTensor {
    if (x.dtype === dtype) return x;
    const cast = this.#r.tensors.make(x.shape, dtype);
    castInto(this.#r, cast, x);
    return cast;
  }

  #widen(shape: readonly number[], values: number, scales: number, dtype: 'f32' | 'bf16'): CudaTensor {
    const wide = this.#r.tensors.make(shape, dtype);
    dequantizeRowsInto(this.#r, wide, values, scales);
    return wide;
  }

  #findServing(): Fp8Serving {
    const { dtype, stream } = this.#r;
    // Tensor cores keep fewer bits of FP8 sums than proofs in float32 want.
    if (dtype === 'f32') return 'widened';
    if (stream.isCapturing) throw new Error('FP8 products were not settled before a captured region');
    const kinds = this.#gemm.version >= vectorSince ? (['vector', 'scalar'] as const) : (['scalar'] as const);
    return kinds.find((serving) => this.#works(serving)) ?? 'widened';
  }

  /** Multiplies ones by twos with factors of their own and looks at the result. */
  #works(serving: 'vector' | 'scalar'): boolean {
    const { m, n, k } = probe;
    const { pool, stream, pinned } = this.#r;
    const [one, two] = [0x38, 0x40];
    const factors = (count: number) => Float32Array.from({ length: count }, (_, i) => 2 ** (i % 5));
    const sizes = [m * k, n * k, 4 * m, 4 * n, 2 * m * n];
    const addresses = sizes.map((size) => pool.allocate(size));
    const [x = 0, w = 0, xScales = 0, wScales = 0, y = 0] = addresses;
    const buffer = pinned.take(2 * m * n);
    try {
      stream.fill(x, one, m * k);
      stream.fill(w, two, n * k);
      pinned.upload(stream, xScales, new Uint8Array(factors(m).buffer));
      pinned.upload(stream, wScales, new Uint8Array(factors(n).buffer));
      stream.fill(y, 0xff, 2 * m * n);
      const product: Product = {
        m,
        n,
        k,
        x: { address: x, dtype: 'f8e4m3', pitch: k },
        w: { address: w, dtype: 'f8e4m3', pitch: k },
        out: { address: y, dtype: 'bf16', pitch: n },
      };
      const isVector = serving === 'vector';
      if (!this.#gemm.probe(isVector ? { ...product, scales: { x: xScales, w: wScales } } : product)) return false;
      stream.copyToHost(buffer.address, y, 2 * m * n);
      stream.drain();
      const bits = new Uint16Array(buffer.view.slice(0, 2 * m * n).buffer);
      const [rows, columns] = [factors(m), factors(n)];
      return bits.every((code, i) => {
        const factor = isVector ? (rows[Math.floor(i / n)] ?? 0) * (columns[i % n] ?? 0) : 1;
        const [wanted = 0] = new Uint32Array(Float32Array.of(2 * k * factor).buffer);
        return code === wanted >>> 16;
      });
    } finally {
      stream.drain();
      pinned.release(buffer);
      for (const address of addresses) pool.free(address);
    }
  }
}
