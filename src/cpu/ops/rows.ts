// Norms, pointwise ops and positions of the CPU device.
import * as composites from '../../backend/composites.js';
import * as guards from '../../backend/guards.js';
import {
  type Activation,
  type Backend,
  type HeadOptions,
  type KvRows,
  ShapeError,
  type Tensor,
  UnsupportedFormatError,
} from '../../backend/index.js';
import { type CpuDevice, elementsPerTile, rowTiles } from '../cpu-device.js';
import { type CpuTensor, own } from '../storage/cpu-tensor.js';
import { maxTerms } from '../tiles/rows.js';
import { asFloats, convertInto, inDtype } from './convert.js';

type RowOps = Pick<
  Backend,
  | 'rmsNorm'
  | 'addNorm'
  | 'layerNorm'
  | 'quantizeRows'
  | 'quantizedNorm'
  | 'quantizedAddNorm'
  | 'quantizedSwiglu'
  | 'add'
  | 'multiply'
  | 'activation'
  | 'swiglu'
  | 'snake'
  | 'mean'
  | 'linearCombination'
  | 'rope'
  | 'headsRope'
  | 'addRows'
>;

/** Numbers of the activations in the kernels; 0 is none. */
const activations: Readonly<Record<Activation, number>> = { silu: 1, relu2: 2, gelu: 3, abs: 4 };

const lastOf = (x: Tensor) => x.shape.at(-1) ?? 1;
const elementTiles = (total: number) => ({ block: elementsPerTile, total });

export function rowOps(d: CpuDevice, backend: () => Backend): RowOps {
  const pair = (op: 'add' | 'multiply', a: Tensor, b: Tensor): CpuTensor => {
    guards.pointwiseShape(op, a, b);
    const out = d.scopes.make(a.shape, 'f32');
    const [x, y] = [asFloats(d, a), asFloats(d, b)];
    const job = { to: out.address, a: x.address, b: y.address, multiply: op === 'multiply' ? 1 : 0 };
    const c = y.count;
    if (x.count === 0) return inDtype(d, out, a.dtype);
    if (c === x.count) d.pool.run('pairSame', { ...job, ...elementTiles(c) }, Math.ceil(c / elementsPerTile));
    else {
      const total = x.count / c;
      const { block, tiles } = rowTiles(total, c);
      d.pool.run('pairSpread', { ...job, block, total, c }, tiles);
    }
    return inDtype(d, out, a.dtype);
  };

  const refuse = (): never => {
    throw new UnsupportedFormatError('fp8', 'cpu');
  };

  return {
    quantizeRows: refuse,
    quantizedNorm: refuse,
    quantizedAddNorm: refuse,
    quantizedSwiglu: refuse,
    addNorm(x, y, weight, eps) {
      guards.addNormShape(x, y, weight);
      return composites.addNorm(backend(), x, y, weight, eps);
    },
    rmsNorm(x, weight, options) {
      const shape = guards.rmsNormShape(x, weight, options);
      const c = lastOf(x);
      const input = asFloats(d, x);
      const out = d.scopes.make(shape, 'f32');
      const history = options.front ? asFloats(d, options.front) : null;
      if (history)
        d.memory.bytes(out.address, history.byteLength).set(d.memory.bytes(history.address, history.byteLength));
      const total = c ? input.count / c : 0;
      const { block, tiles } = rowTiles(total, c);
      const kind = options.activation ? activations[options.activation] : 0;
      const to = out.address + (history?.byteLength ?? 0);
      const numbers = { x: input.address, weight: asFloats(d, weight).address, c, eps: options.eps, kind };
      d.pool.run('rmsNorm', { block, total, to, ...numbers }, tiles);
      return inDtype(d, out, x.dtype);
    },
    layerNorm(x, weight, bias, eps) {
      guards.layerNormShape(x, weight, bias);
      const c = lastOf(x);
      const input = asFloats(d, x);
      const out = d.scopes.make(x.shape, 'f32');
      const total = c ? input.count / c : 0;
      const { block, tiles } = rowTiles(total, c);
      const affine = { weight: asFloats(d, weight).address, bias: bias ? asFloats(d, bias).address : 0 };
      d.pool.run('layerNorm', { block, total, to: out.address, x: input.address, ...affine, c, eps }, tiles);
      return inDtype(d, out, x.dtype);
    },
    add: (a, b) => pair('add', a, b),
    multiply: (a, b) => pair('multiply', a, b),
    activation(x, kind) {
      const input = asFloats(d, x);
      const out = d.scopes.make(x.shape, 'f32');
      const job = { ...elementTiles(input.count), to: out.address, x: input.address, kind: activations[kind] };
      d.pool.run('activate', job, Math.ceil(input.count / elementsPerTile));
      return inDtype(d, out, x.dtype);
    },
    swiglu(x) {
      const out = d.scopes.make(guards.swigluShape(x), 'f32');
      const f = lastOf(out);
      const total = f ? out.count / f : 0;
      const { block, tiles } = rowTiles(total, f);
      d.pool.run('swiglu', { block, total, to: out.address, x: asFloats(d, x).address, f }, tiles);
      return inDtype(d, out, x.dtype);
    },
    snake(x, alpha, beta) {
      guards.snakeShape(x, alpha, beta);
      const input = asFloats(d, x);
      const c = lastOf(x);
      const out = d.scopes.make(x.shape, 'f32');
      const table = d.memory.allocate(8 * c);
      try {
        const [a, b] = [asFloats(d, alpha), asFloats(d, beta)].map((t) => d.memory.floats(t.address, c)) as [
          Float32Array,
          Float32Array,
        ];
        d.memory.floats(table, c).set(a.map((value) => Math.exp(value)));
        d.memory.floats(table + 4 * c, c).set(b.map((value) => 1 / (Math.exp(value) + 1e-9)));
        const total = input.count / c;
        const { block, tiles } = rowTiles(total, c);
        const job = { block, total, to: out.address, x: input.address, frequency: table, inverse: table + 4 * c, c };
        d.pool.run('snake', job, tiles);
      } finally {
        d.memory.free(table);
      }
      return inDtype(d, out, x.dtype);
    },
    mean(x) {
      const out = d.scopes.make(guards.meanShape(x), 'f32');
      const { block, tiles } = rowTiles(out.count, lastOf(x));
      const job = { block, total: out.count, to: out.address, x: asFloats(d, x).address, c: lastOf(x) };
      d.pool.run('mean', job, tiles);
      return inDtype(d, out, x.dtype);
    },
    linearCombination(dst, combination) {
      guards.checkCombination(dst, combination);
      const { terms, coefficients, step } = combination;
      const target = own(dst);
      const row = new Int32Array(d.memory.wasm.buffer, own(step).address, 1)[0] ?? 0;
      const steps = coefficients.shape[0] ?? 0;
      if (row < 0 || row >= steps) throw new RangeError(`linearCombination: step ${row} of ${steps}`);
      if (terms.length > maxTerms)
        throw new ShapeError('linearCombination', `${terms.length} terms, at most ${maxTerms}`);
      const factors = d.memory.floats(own(coefficients).address + row * terms.length * 4, terms.length);
      d.scopes.run(() => {
        const used = terms.flatMap((term, k) => {
          const factor = factors[k] as number;
          return factor === 0 ? [] : [asFloats(d, term).address, factor];
        });
        const out = target.dtype === 'f32' ? target : d.scopes.make(dst.shape, 'f32');
        const job = { ...elementTiles(out.count), to: out.address, terms: used.length / 2 };
        d.pool.run('combine', job, Math.ceil(out.count / elementsPerTile), used);
        if (out !== target) convertInto(d, target, out);
        return null;
      });
    },
    rope(x, cos, sin) {
      const [total, heads, dim] = guards.ropeShape(x, cos, sin) as readonly [number, number, number];
      const out = d.scopes.make(x.shape, 'f32');
      const angles = { cos: asFloats(d, cos).address, sin: asFloats(d, sin).address };
      const { block, tiles } = rowTiles(total, heads * dim);
      const rows = { x: asFloats(d, x).address, stride: heads * dim * 4, heads, d: dim, weight: 0, eps: 0 };
      d.pool.run('rotate', { block, total, to: out.address, ...rows, ...angles }, tiles);
      return inDtype(d, out, x.dtype);
    },
    headsRope(qkv, options, into) {
      const shape = guards.headsRopeShape(qkv, options, into);
      if (qkv.dtype !== 'f32' || into.k.dtype !== 'f32' || into.v.dtype !== 'f32' || options.headDim % 2 !== 0)
        return composites.headsRope(backend(), qkv, options, into);
      return rotateMerged(d, own(qkv), { shape, options, into });
    },
    addRows(x, row, mask) {
      guards.addRowsShape(x, row, mask);
      const [total = 0, c = 0] = x.shape;
      const out = d.scopes.make(x.shape, 'f32');
      const { block, tiles } = rowTiles(total, c);
      const inputs = { x: asFloats(d, x).address, row: asFloats(d, row).address, mask: asFloats(d, mask).address };
      d.pool.run('addRows', { block, total, to: out.address, ...inputs, c }, tiles);
      return inDtype(d, out, x.dtype);
    },
  };
}

interface Heads {
  readonly shape: readonly number[];
  readonly options: HeadOptions;
  readonly into: KvRows;
}

/** Norm and rotation straight from the merged rows; values are copied out of them. */
function rotateMerged(d: CpuDevice, qkv: CpuTensor, { shape, options, into }: Heads): CpuTensor {
  const { heads, kvHeads, headDim, eps } = options;
  const out = d.scopes.make(shape, 'f32');
  const total = shape[0] ?? 0;
  const stride = (heads + 2 * kvHeads) * headDim * 4;
  const angles = { cos: asFloats(d, options.cos).address, sin: asFloats(d, options.sin).address };
  const turn = (to: number, first: number, count: number, norm: Tensor | undefined): void => {
    const { block, tiles } = rowTiles(total, count * headDim);
    const weight = norm ? asFloats(d, norm).address : 0;
    const rows = { x: qkv.address + first * headDim * 4, stride, heads: count, d: headDim, weight, eps };
    d.pool.run('rotate', { block, total, to, ...rows, ...angles }, tiles);
  };
  turn(out.address, 0, heads, options.qNorm);
  turn(own(into.k).address, heads, kvHeads, options.kNorm);
  const bytes = kvHeads * headDim * 4;
  const { block, tiles } = rowTiles(total, kvHeads * headDim);
  const values = { to: own(into.v).address, toStride: bytes, from: qkv.address + (heads + kvHeads) * headDim * 4 };
  d.pool.run('copyRows', { block, total, ...values, fromStride: stride, bytes }, tiles);
  return out;
}
