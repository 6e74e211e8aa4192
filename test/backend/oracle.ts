// The oracle: the whole device contract in plain loops with float64 sums. Slow, obvious, and what every device is held against.

import * as composites from '../../src/backend/composites.js';
import * as guards from '../../src/backend/guards.js';
import {
  type Backend,
  type DType,
  elementCount,
  isQuantized,
  type Kept,
  residentOffload,
  type Tensor,
  type Weight,
} from '../../src/backend/index.js';
import { concatBytes, gatherRows, permuteBytes, sliceBytes, upsample, writeInto } from './oracle/layout.js';
import { floatsOf, makeWeight, OracleTensor, own, ownWeight, Tensors } from './oracle/oracle-tensor.js';
import { attentionLoops, convLoops, convTransposeLoops, matmulLoops } from './oracle/products.js';
import { dequantizeLoops, quantizeLoops } from './oracle/quantization.js';
import * as rows from './oracle/rows.js';

const lastOf = (x: Tensor) => x.shape.at(-1) ?? 1;
const ids = (x: Tensor) => Int32Array.from(floatsOf(x));

/** A device that keeps float32 activations in JavaScript arrays. Results have the dtype of their first operand. */
export function createOracle(): Backend {
  const tensors = new Tensors();
  const like = (x: Tensor, shape: readonly number[], values: ArrayLike<number>) => tensors.fill(shape, x.dtype, values);
  const optional = (x: Tensor | null | undefined) => (x ? floatsOf(x) : null);

  const backend: Backend = {
    name: 'oracle',
    activationDtype: 'f32',
    weightFormats: ['dense', 'fp8'],

    upload(host) {
      const out = tensors.make(host.shape, host.dtype);
      out.bytes.set(host.bytes);
      return out;
    },
    weight: makeWeight,
    offload: residentOffload,
    zeros: (shape, dtype) => tensors.make(shape, dtype),
    download: async (x) => ({ shape: x.shape, dtype: x.dtype, bytes: own(x).bytes.slice() }),
    scope: <T extends Kept>(body: () => T) => tensors.scope(body),
    capture: (body) => ({
      replay: () => {
        tensors.scope(() => {
          body();
          return null;
        });
      },
      [Symbol.dispose]() {},
    }),
    async synchronize() {},
    async [Symbol.asyncDispose]() {},

    view: (x, shape) => tensors.alias(x, guards.viewShape(x, shape), 0),
    slice(x, axis, start, end) {
      const shape = guards.sliceShape(x, axis, start, end);
      if (axis === 0) return tensors.alias(x, shape, start * elementCount(shape.slice(1)));
      const out = tensors.make(shape, x.dtype);
      out.bytes.set(sliceBytes(x, axis, start, end));
      return out;
    },
    permute(x, axes) {
      const out = tensors.make(guards.permuteShape(x, axes), x.dtype);
      permuteBytes(x, axes, out.bytes);
      return out;
    },
    concat(parts, axis) {
      const shape = guards.concatShape(parts, axis);
      const out = tensors.make(shape, (parts[0] as Tensor).dtype);
      concatBytes(parts, axis, shape, out.bytes);
      return out;
    },
    cast(x, dtype: DType) {
      const out = tensors.make(x.shape, dtype);
      writeInto(out, x);
      return out;
    },
    write(dst, src) {
      guards.checkWrite(dst, src);
      writeInto(dst, src);
    },

    matmul(rowsIn, w, options) {
      const shape = guards.matmulShape(rowsIn, w, options?.bias);
      const k = w.shape[1] ?? 1;
      const x = isQuantized(rowsIn)
        ? dequantizeLoops({ codes: own(rowsIn.values).bytes, scales: floatsOf(rowsIn.scales) })
        : floatsOf(rowsIn);
      const values = matmulLoops(x, ownWeight(w).floats, k, optional(options?.bias));
      return tensors.fill(shape, isQuantized(rowsIn) ? 'f32' : rowsIn.dtype, values);
    },
    attention(q, segments, options) {
      const causal = options?.causal ?? false;
      guards.attentionKeys(q, segments, causal);
      const [count, heads, d] = q.shape as readonly [number, number, number];
      const loops = segments.map(({ k, v, length }) => ({
        k: floatsOf(k),
        v: floatsOf(v),
        groups: k.shape[1] ?? 1,
        rows: Math.min(k.shape[0] ?? 0, length ? (ids(length)[0] ?? 0) : Number.POSITIVE_INFINITY),
      }));
      const scale = options?.scale ?? 1 / Math.sqrt(d);
      return like(q, q.shape, attentionLoops(floatsOf(q), loops, { rows: count, heads, d, scale, causal }));
    },
    conv(x, w, options = {}) {
      const shape = guards.convShape(x, w, options);
      const { floats } = ownWeight(w);
      return like(x, shape, convLoops(floatsOf(x), x.shape, floats, w.shape, shape, options, optional(options.bias)));
    },
    convTranspose(x, w, options) {
      const shape = guards.convTransposeShape(x, w, options);
      const { floats } = ownWeight(w);
      const bias = optional(options.bias);
      return like(x, shape, convTransposeLoops(floatsOf(x), floats, w.shape, shape[0] ?? 0, options, bias));
    },

    rmsNorm(x, weight, options) {
      guards.rmsNormShape(x, weight, options);
      if (options.activation || options.front) return composites.rmsNorm(backend, x, weight, options);
      return like(x, x.shape, rows.rmsNormLoops(floatsOf(x), floatsOf(weight), options.eps));
    },
    addNorm(x, y, weight, eps) {
      guards.addNormShape(x, y, weight);
      return composites.addNorm(backend, x, y, weight, eps);
    },
    quantizeRows(x) {
      const rowCount = guards.rowScalesShape('quantizeRows', x);
      const { codes, scales } = quantizeLoops(floatsOf(x), lastOf(x));
      const values = tensors.make(x.shape, 'f8e4m3');
      values.bytes.set(codes);
      return { values, scales: tensors.fill(rowCount, 'f32', scales) };
    },
    quantizedNorm: (x, weight, eps) => composites.quantizedNorm(backend, x, weight, eps),
    quantizedAddNorm: (x, y, weight, eps) => composites.quantizedAddNorm(backend, x, y, weight, eps),
    quantizedSwiglu: (x) => composites.quantizedSwiglu(backend, x),
    layerNorm(x, weight, bias, eps) {
      guards.layerNormShape(x, weight, bias);
      return like(x, x.shape, rows.layerNormLoops(floatsOf(x), floatsOf(weight), optional(bias), eps));
    },

    add(a, b) {
      guards.pointwiseShape('add', a, b);
      const [left, right] = [floatsOf(a), floatsOf(b)];
      return like(
        a,
        a.shape,
        left.map((value, i) => value + (right[i % right.length] as number)),
      );
    },
    multiply(a, b) {
      guards.pointwiseShape('multiply', a, b);
      const [left, right] = [floatsOf(a), floatsOf(b)];
      return like(
        a,
        a.shape,
        left.map((value, i) => value * (right[i % right.length] as number)),
      );
    },
    activation: (x, kind) =>
      like(
        x,
        x.shape,
        floatsOf(x).map((value) => rows.activate(value, kind)),
      ),
    swiglu(x) {
      const shape = guards.swigluShape(x);
      return like(x, shape, rows.swigluLoops(floatsOf(x), shape.at(-1) ?? 1));
    },
    snake(x, alpha, beta) {
      guards.snakeShape(x, alpha, beta);
      return like(x, x.shape, rows.snakeLoops(floatsOf(x), floatsOf(alpha), floatsOf(beta)));
    },
    mean: (x) => like(x, guards.meanShape(x), rows.meanLoops(floatsOf(x), lastOf(x))),
    linearCombination(dst, combination) {
      guards.checkCombination(dst, combination);
      const sums = rows.combine(elementCount(dst.shape), combination);
      writeInto(dst, tensors.fill(dst.shape, 'f32', sums));
    },

    rope(x, cos, sin) {
      const [, heads, d] = guards.ropeShape(x, cos, sin) as readonly [number, number, number];
      return like(x, x.shape, rows.ropeLoops(floatsOf(x), floatsOf(cos), floatsOf(sin), heads, d));
    },
    headsRope(qkv, options, into) {
      guards.headsRopeShape(qkv, options, into);
      return composites.headsRope(backend, qkv, options, into);
    },
    embed(table, id) {
      const shape = guards.embedShape(table, id);
      const values = gatherRows(tableFloats(table), ids(id), shape[1] ?? 0);
      return tensors.fill(shape, table instanceof OracleTensor ? table.dtype : 'f32', values);
    },
    addRows(x, row, mask) {
      guards.addRowsShape(x, row, mask);
      const [values, shift, on] = [floatsOf(x), floatsOf(row), floatsOf(mask)];
      const c = lastOf(x);
      return like(
        x,
        x.shape,
        values.map((value, i) => value + (on[Math.floor(i / c)] as number) * (shift[i % c] as number)),
      );
    },
    upsampleNearest(x, factor) {
      const out = tensors.make(guards.upsampleShape(x, factor), x.dtype);
      upsample(x, factor, out.bytes);
      return out;
    },

    toRgb8(x) {
      const out = tensors.make(x.shape, 'u8');
      out.bytes.set(rows.rgbLoops(floatsOf(x)));
      return out;
    },
  };
  return backend;
}

function tableFloats(table: Weight | Tensor): Float32Array {
  return table instanceof OracleTensor ? floatsOf(table) : ownWeight(table as Weight).floats;
}
