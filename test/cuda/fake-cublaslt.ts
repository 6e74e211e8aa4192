// cuBLASLt in this process: products by plain loops on the fake driver's memory, column-major as the library counts.
import type { CublasLt } from '../../src/cuda/ffi/cublaslt.js';
import { viewAddress } from '../../src/native/index.js';
import { toFloats } from '../backend/oracle/number-formats.js';

interface Layout {
  readonly type: number;
  readonly rows: number;
  readonly columns: number;
  readonly leading: number;
  batch: number;
  stride: number;
}

interface Description {
  transposeA: number;
  epilogue: number;
  bias: number;
  /** Factors for each row of the result and for each column, where the modes say so. */
  outerVectors: boolean;
  scaleA: number;
  scaleB: number;
}

const bf16 = 14;
const e4m3 = 28;
const outerVectorMode = 3;
const word = new DataView(new ArrayBuffer(4));

const plainDescription: Description = {
  transposeA: 0,
  epilogue: 1,
  bias: 0,
  outerVectors: false,
  scaleA: 0,
  scaleB: 0,
};

/** Reads and writes elements of float32, bfloat16 or E4M3 at an address. */
class Elements {
  readonly #view: DataView;
  readonly #type: number;

  constructor(address: number, type: number, count: number) {
    this.#type = type;
    const bytes = viewAddress(BigInt(address), count * (type === e4m3 ? 1 : type === bf16 ? 2 : 4));
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get(i: number): number {
    if (this.#type === e4m3) return toFloats(Uint8Array.of(this.#view.getUint8(i)), 'f8e4m3')[0] ?? 0;
    if (this.#type !== bf16) return this.#view.getFloat32(4 * i, true);
    word.setUint32(0, this.#view.getUint16(2 * i, true) << 16);
    return word.getFloat32(0);
  }

  set(i: number, value: number): void {
    if (this.#type !== bf16) {
      this.#view.setFloat32(4 * i, value, true);
      return;
    }
    word.setFloat32(0, value);
    const bits = word.getUint32(0);
    this.#view.setUint16(2 * i, (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16, true);
  }
}

export interface FakeCublasLtOptions {
  /** Where work goes: the fake driver's queue. */
  readonly enqueue: (name: string, stream: number, work: () => void) => number;
  /** Whether the library claims to have an algorithm; yes where absent. */
  readonly serves?: (rows: number, columns: number) => boolean;
  /** Whether factors of outer vectors are served; yes where absent. */
  readonly servesOuterVectors?: boolean;
  /** How many algorithms it offers; one where absent. Their first byte counts them from 0. */
  readonly algorithms?: number;
  /** Hears of every product. */
  readonly onMatmul?: (product: FakeProduct) => void;
}

export interface FakeProduct {
  readonly m: number;
  readonly n: number;
  readonly batch: number;
  /** `cudaDataType` of the weight. */
  readonly type: number;
  readonly outerVectors: boolean;
  /** Which of the offered algorithms. */
  readonly algorithm: number;
  readonly stream: number;
}

export function createFakeCublasLt({
  enqueue,
  serves,
  servesOuterVectors = true,
  algorithms = 1,
  onMatmul,
}: FakeCublasLtOptions): CublasLt & {
  readonly live: { count: number };
} {
  const layouts = new Map<number, Layout>();
  const descriptions = new Map<number, Description>();
  const live = { count: 0 };
  let next = 1;
  const make = (out: BigUint64Array): number => {
    live.count++;
    out[0] = BigInt(next);
    return next++;
  };
  const drop = () => {
    live.count--;
    return 0;
  };
  const layoutOf = (handle: number): Layout => {
    const layout = layouts.get(handle);
    if (!layout) throw new Error(`no layout ${handle}`);
    return layout;
  };
  const numberIn = (value: ArrayBufferView): number => {
    const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
    return value.byteLength === 8 ? Number(view.getBigUint64(0, true)) : view.getUint32(0, true);
  };
  return {
    live,
    cublasLtGetVersion: () => 130100,
    cublasLtGetStatusString: (status) => `status ${status}`,
    cublasLtCreate: (handle) => {
      make(handle);
      return 0;
    },
    cublasLtDestroy: drop,
    cublasLtMatmulDescCreate: (description) => {
      descriptions.set(make(description), { ...plainDescription });
      return 0;
    },
    cublasLtMatmulDescSetAttribute: (description, attribute, value) => {
      const d = descriptions.get(description);
      if (!d) return 7;
      if (attribute === 3) d.transposeA = numberIn(value);
      if (attribute === 7) d.epilogue = numberIn(value);
      if (attribute === 8) d.bias = numberIn(value);
      if (attribute === 17) d.scaleA = numberIn(value);
      if (attribute === 18) d.scaleB = numberIn(value);
      if (attribute === 31) d.outerVectors = numberIn(value) === outerVectorMode;
      return 0;
    },
    cublasLtMatmulDescDestroy: drop,
    cublasLtMatrixLayoutCreate: (layout, type, rows, columns, leading) => {
      layouts.set(make(layout), { type, rows, columns, leading, batch: 1, stride: 0 });
      return leading >= rows ? 0 : 7;
    },
    cublasLtMatrixLayoutSetAttribute: (layout, attribute, value) => {
      if (attribute === 5) layoutOf(layout).batch = numberIn(value);
      if (attribute === 6) layoutOf(layout).stride = numberIn(value);
      return 0;
    },
    cublasLtMatrixLayoutDestroy: drop,
    cublasLtMatmulPreferenceCreate: (preference) => {
      make(preference);
      return 0;
    },
    cublasLtMatmulPreferenceSetAttribute: () => 0,
    cublasLtMatmulPreferenceDestroy: drop,
    cublasLtMatmulAlgoGetHeuristic: (_handle, description, _a, _b, _c, d, _preference, wanted, results, found) => {
      const { rows, columns } = layoutOf(d);
      const { outerVectors } = descriptions.get(description) ?? plainDescription;
      const served = (serves?.(columns, rows) ?? true) && (servesOuterVectors || !outerVectors);
      const count = Math.min(wanted, algorithms);
      found[0] = served ? count : 0;
      for (let i = 0; i < count; i++) results[i * 96] = i;
      return served ? 0 : 15;
    },
    cublasLtMatmul: (
      _h,
      description,
      _alpha,
      a,
      aLayout,
      b,
      bLayout,
      beta,
      _c,
      _cLayout,
      d,
      dLayout,
      algorithm,
      _workspace,
      _bytes,
      stream,
    ) => {
      const [la, lb, ld] = [layoutOf(aLayout), layoutOf(bLayout), layoutOf(dLayout)];
      const { transposeA, epilogue, bias, outerVectors, scaleA, scaleB } =
        descriptions.get(description) ?? plainDescription;
      const keep = beta[0] ?? 0;
      onMatmul?.({
        m: ld.columns,
        n: ld.rows,
        batch: ld.batch,
        type: la.type,
        outerVectors,
        algorithm: algorithm[0] ?? 0,
        stream,
      });
      return enqueue('cublasLtMatmul', stream, () => {
        const extent = (l: Layout) => (l.batch - 1) * l.stride + (l.columns - 1) * l.leading + l.rows;
        const [xa, xb, xd] = [
          new Elements(a, la.type, extent(la)),
          new Elements(b, lb.type, extent(lb)),
          new Elements(d, ld.type, extent(ld)),
        ];
        const shift = epilogue === 4 ? new Elements(bias, ld.type, ld.rows) : null;
        const factors = outerVectors
          ? { a: new Elements(scaleA, 0, ld.rows), b: new Elements(scaleB, 0, ld.columns) }
          : null;
        const depth = lb.rows;
        for (let batch = 0; batch < ld.batch; batch++)
          for (let column = 0; column < ld.columns; column++)
            for (let row = 0; row < ld.rows; row++) {
              let sum = 0;
              for (let k = 0; k < depth; k++) {
                const i = transposeA ? row * la.leading + k : k * la.leading + row;
                sum += xa.get(batch * la.stride + i) * xb.get(batch * lb.stride + column * lb.leading + k);
              }
              const at = batch * ld.stride + column * ld.leading + row;
              const before = keep === 0 ? 0 : keep * xd.get(at);
              const factor = factors ? factors.a.get(row) * factors.b.get(column) : 1;
              xd.set(at, sum * factor + before + (shift?.get(row) ?? 0));
            }
      });
    },
  };
}
