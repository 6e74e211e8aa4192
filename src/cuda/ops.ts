// The contract's ops on a GPU: each checks its arguments, makes its result and launches its kernel.
import * as guards from '../backend/guards.js';
import {
  type Backend,
  type DType,
  dtypeBytes,
  elementCount,
  type HeadOptions,
  isQuantized,
  type KvRows,
  type MatmulOptions,
  type NormOptions,
  type QuantizedRows,
  type Rows,
  ShapeError,
  type Tensor,
  type Weight,
} from '../backend/index.js';
import { attention } from './attention.js';
import { conv, convTranspose, rowsAs } from './convolution.js';
import type { Fp8Products } from './fp8-products.js';
import { floatType, type Gemm } from './gemm.js';
import { castInto } from './kernels/layout/cast.js';
import { copyRows } from './kernels/layout/copy-rows.js';
import { embedInto } from './kernels/layout/embed.js';
import { permuteInto } from './kernels/layout/permute.js';
import { upsampleInto } from './kernels/layout/upsample-nearest.js';
import { activateInto } from './kernels/pointwise/activation.js';
import { addRowsInto } from './kernels/pointwise/add-rows.js';
import { pairInto } from './kernels/pointwise/arithmetic.js';
import { combineInto } from './kernels/pointwise/linear-combination.js';
import { snakeInto } from './kernels/pointwise/snake.js';
import { swigluInto } from './kernels/pointwise/swiglu.js';
import { toRgb8Into } from './kernels/pointwise/to-rgb8.js';
import { addNormInto } from './kernels/rows/add-norm.js';
import { headsRopeInto } from './kernels/rows/heads-rope.js';
import { layerNormInto } from './kernels/rows/layer-norm.js';
import { meanInto } from './kernels/rows/mean.js';
import { quantizeRowsInto } from './kernels/rows/quantize-rows.js';
import { rmsNormInto } from './kernels/rows/rms-norm.js';
import { ropeInto } from './kernels/rows/rope.js';
import type { Runtime } from './runtime/runtime.js';
import { type CudaTensor, own } from './runtime/tensor.js';
import { CudaWeight, ownWeight } from './weights/cuda-weight.js';
import { Fp8Weight } from './weights/fp8-weight.js';

/** What a backend has besides memory, scopes and graphs. */
export type Ops = Omit<
  Backend,
  | 'name'
  | 'activationDtype'
  | 'weightFormats'
  | 'upload'
  | 'weight'
  | 'offload'
  | 'zeros'
  | 'download'
  | 'scope'
  | 'capture'
  | 'synchronize'
  | typeof Symbol.asyncDispose
>;

export function createOps(r: Runtime, gemm: Gemm, fp8: Fp8Products): Ops {
  const like = (x: Tensor, shape: readonly number[] = x.shape) => r.tensors.make(shape, x.dtype);
  /** `x` itself, or a temporary of the wanted dtype. */
  const as = (x: CudaTensor, dtype: DType) => {
    if (x.dtype === dtype) return x;
    const cast = r.tensors.make(x.shape, dtype);
    castInto(r, cast, x);
    return cast;
  };
  /** Fills `out` and frees what `body` made on the way. */
  const into = <T extends CudaTensor>(out: T, body: () => void): T => {
    r.tensors.run(() => {
      body();
      return null;
    });
    return out;
  };
  const pair = (op: 'add' | 'multiply') => (a: Tensor, b: Tensor) => {
    const out = like(a, guards.pointwiseShape(op, a, b));
    pairInto(r, op, out, own(a), own(b));
    return out;
  };

  return {
    view: (x, shape) => r.tensors.track(own(x).alias(guards.viewShape(x, shape), 0)),
    slice(x, axis, start, end) {
      const shape = guards.sliceShape(x, axis, start, end);
      if (axis === 0) return r.tensors.track(own(x).alias(shape, start * elementCount(shape.slice(1))));
      const inner = elementCount(x.shape.slice(axis + 1)) * dtypeBytes(x.dtype);
      const out = like(x, shape);
      copyRows(r, {
        to: out.address,
        toPitch: (end - start) * inner,
        from: own(x).address + start * inner,
        fromPitch: (x.shape[axis] ?? 0) * inner,
        bytes: (end - start) * inner,
        rows: elementCount(x.shape.slice(0, axis)),
      });
      return out;
    },
    permute(x, axes) {
      const out = like(x, guards.permuteShape(x, axes));
      permuteInto(r, out, own(x), axes);
      return out;
    },
    concat(parts, axis) {
      const shape = guards.concatShape(parts, axis);
      const [first] = parts;
      if (!first) throw new ShapeError('concat', 'no parts');
      const out = like(first, shape);
      const pitch = elementCount(shape.slice(axis)) * dtypeBytes(first.dtype);
      let at = 0;
      for (const part of parts) {
        const bytes = elementCount(part.shape.slice(axis)) * dtypeBytes(first.dtype);
        copyRows(r, {
          to: out.address + at,
          toPitch: pitch,
          from: own(part).address,
          fromPitch: bytes,
          bytes,
          rows: elementCount(shape.slice(0, axis)),
        });
        at += bytes;
      }
      return out;
    },
    cast(x, dtype) {
      const out = r.tensors.make(x.shape, dtype);
      castInto(r, out, own(x));
      return out;
    },
    write(dst, src) {
      guards.checkWrite(dst, src);
      castInto(r, own(dst), own(src));
    },

    matmul: (x, w, options) => matmul(r, { gemm, fp8 }, x, w, options ?? {}),
    attention: (q, segments, options) => attention(r, gemm, q, segments, options ?? {}),
    conv: (x, w, options) => conv(r, x, w, options ?? {}),
    convTranspose: (x, w, options) => convTranspose(r, gemm, x, w, options),

    rmsNorm: (x, weight, options) => rmsNorm(r, x, weight, options),
    addNorm(x, y, weight, eps) {
      const sum = like(x, guards.addNormShape(x, y, weight));
      const normed = like(x);
      const residual = { y: own(y), sum };
      addNormInto(r, { normed, scales: null, x: own(x), residual, weight: own(weight), eps });
      return { sum, normed };
    },
    layerNorm(x, weight, bias, eps) {
      const out = like(x, guards.layerNormShape(x, weight, bias));
      return into(out, () => {
        const shift = bias ? as(own(bias), weight.dtype) : null;
        layerNormInto(r, out, own(x), { weight: own(weight), bias: shift, eps });
      });
    },

    quantizeRows: (x) => quantize(r, 'quantizeRows', x, x.shape),
    quantizedSwiglu: (x) => quantize(r, 'quantizedSwiglu', x, guards.swigluShape(x)),
    quantizedNorm(x, weight, eps) {
      const normed = quantizedLike(r, 'quantizedNorm', guards.rmsNormShape(x, weight, { eps }));
      const { values, scales } = normed;
      addNormInto(r, { normed: values, scales, x: own(x), residual: null, weight: own(weight), eps });
      return normed;
    },
    quantizedAddNorm(x, y, weight, eps) {
      const sum = like(x, guards.addNormShape(x, y, weight));
      const normed = quantizedLike(r, 'quantizedAddNorm', x.shape);
      const { values, scales } = normed;
      addNormInto(r, { normed: values, scales, x: own(x), residual: { y: own(y), sum }, weight: own(weight), eps });
      return { sum, normed };
    },

    add: pair('add'),
    multiply: pair('multiply'),
    activation(x, kind) {
      const out = like(x);
      activateInto(r, out, own(x), kind);
      return out;
    },
    swiglu(x) {
      const out = like(x, guards.swigluShape(x));
      swigluInto(r, out, own(x));
      return out;
    },
    snake(x, alpha, beta) {
      const out = like(x, guards.snakeShape(x, alpha, beta));
      return into(out, () => snakeInto(r, out, own(x), own(alpha), as(own(beta), alpha.dtype)));
    },
    mean(x) {
      const out = like(x, guards.meanShape(x));
      meanInto(r, out, own(x));
      return out;
    },
    linearCombination(dst, combination) {
      guards.checkCombination(dst, combination);
      const { terms, coefficients, step } = combination;
      combineInto(r, own(dst), terms.map(own), own(coefficients), own(step));
    },

    rope(x, cos, sin) {
      const out = like(x, guards.ropeShape(x, cos, sin));
      return into(out, () => ropeInto(r, out, own(x), own(cos), as(own(sin), cos.dtype)));
    },
    headsRope: (qkv, options, rows) => headsRope(r, qkv, options, rows),
    embed(table, ids) {
      const shape = guards.embedShape(table, ids);
      const isWeight = table instanceof CudaWeight;
      const dtype = isWeight ? ownWeight(table).dtype : table.dtype;
      const address = isWeight ? table.address : own(table).address;
      const out = r.tensors.make(shape, dtype);
      const [rows = 0, width = 0] = table.shape;
      embedInto(r, out, { address, rows, rowBytes: width * dtypeBytes(dtype) }, own(ids));
      return out;
    },
    addRows(x, row, mask) {
      const out = like(x, guards.addRowsShape(x, row, mask));
      return into(out, () => addRowsInto(r, out, own(x), own(row), as(own(mask), 'f32')));
    },
    upsampleNearest(x, factor) {
      const out = like(x, guards.upsampleShape(x, factor));
      upsampleInto(r, out, own(x), factor);
      return out;
    },

    toRgb8(x) {
      const out = r.tensors.make(x.shape, 'u8');
      toRgb8Into(r, out, own(x));
      return out;
    },
  };
}

interface OwnQuantizedRows extends QuantizedRows {
  readonly values: CudaTensor;
  readonly scales: CudaTensor;
}

/** Quantised rows with undefined contents. */
function quantizedLike(r: Runtime, op: string, shape: readonly number[]): OwnQuantizedRows {
  const scales = guards.rowScalesShape(op, { shape });
  return { values: r.tensors.make(shape, 'f8e4m3'), scales: r.tensors.make(scales, 'f32') };
}

/** `x`, or SwiGLU of it where the result is half as wide, quantised row by row. */
function quantize(r: Runtime, op: string, x: Tensor, shape: readonly number[]): QuantizedRows {
  const out = quantizedLike(r, op, shape);
  const columns = shape.at(-1) ?? 1;
  quantizeRowsInto(r, {
    values: out.values.address,
    scales: out.scales.address,
    x: own(x),
    rows: out.scales.count,
    columns,
    swiglu: columns !== x.shape.at(-1),
  });
  return out;
}

interface Products {
  readonly gemm: Gemm;
  readonly fp8: Fp8Products;
}

function matmul(r: Runtime, { gemm, fp8 }: Products, x: Rows, w: Weight, { bias }: MatmulOptions): CudaTensor {
  const shape = guards.matmulShape(x, w, bias);
  const dtype = isQuantized(x) ? r.dtype : floatType('matmul', x.dtype);
  const out = r.tensors.make(shape, dtype);
  const [n = 0, k = 0] = w.shape;
  if (out.count === 0) return out;
  r.tensors.run(() => {
    let shift = bias ? own(bias) : null;
    if (w instanceof Fp8Weight) {
      if (isQuantized(x)) fp8.multiply(out, x, w, shift);
      else fp8.multiplyWide(out, x, w, shift);
      return null;
    }
    if (shift && shift.dtype !== dtype) {
      const narrow = r.tensors.make(shift.shape, dtype);
      castInto(r, narrow, shift);
      shift = narrow;
    }
    gemm.multiply({
      m: out.count / n,
      n,
      k,
      x: { address: own(guards.plainRows('matmul', x)).address, dtype, pitch: k },
      w: { address: rowsAs(r, ownWeight(w), dtype), dtype, pitch: k },
      out: { address: out.address, dtype, pitch: n },
      ...(shift && { bias: shift.address }),
    });
    return null;
  });
  return out;
}

function rmsNorm(r: Runtime, x: Tensor, weight: Tensor, options: NormOptions): CudaTensor {
  const out = r.tensors.make(guards.rmsNormShape(x, weight, options), x.dtype);
  const { front, eps, activation } = options;
  if (front && front.dtype !== x.dtype) throw new ShapeError('rmsNorm', `front is ${front.dtype}, x ${x.dtype}`);
  const frames = front ? own(front) : null;
  if (frames) r.stream.copy(out.address, frames.address, frames.byteLength);
  const normed = out.alias(x.shape, frames?.count ?? 0);
  rmsNormInto(r, normed, own(x), { weight: own(weight), eps, activation });
  normed[Symbol.dispose]();
  return out;
}

function headsRope(r: Runtime, qkv: Tensor, options: HeadOptions, into: KvRows): CudaTensor {
  const q = r.tensors.make(guards.headsRopeShape(qkv, options, into), qkv.dtype);
  const { qNorm, kNorm, cos, sin, eps } = options;
  if (into.k.dtype !== qkv.dtype || into.v.dtype !== qkv.dtype)
    throw new ShapeError('headsRope', `qkv is ${qkv.dtype}, k ${into.k.dtype}, v ${into.v.dtype}`);
  if (cos.dtype !== sin.dtype || (qNorm && kNorm && qNorm.dtype !== kNorm.dtype))
    throw new ShapeError('headsRope', 'cos and sin, and both norms, have one dtype each');
  headsRopeInto(r, {
    q,
    k: own(into.k),
    v: own(into.v),
    qkv: own(qkv),
    qNorm: qNorm ? own(qNorm) : null,
    kNorm: kNorm ? own(kNorm) : null,
    cos: own(cos),
    sin: own(sin),
    eps,
  });
  return q;
}
