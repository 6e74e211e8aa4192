// Layout ops of the CPU device.

import * as guards from '../../backend/guards.js';
import { type Backend, dtypeBytes, elementCount, ShapeError, type Tensor } from '../../backend/index.js';
import { type CpuDevice, elementsPerTile } from '../cpu-device.js';
import { type CpuTensor, own } from '../storage/cpu-tensor.js';
import { CpuWeight } from '../storage/cpu-weight.js';
import { maxAxes } from '../tiles/move.js';
import { asFloats, convertInto } from './convert.js';

type LayoutOps = Pick<
  Backend,
  'view' | 'slice' | 'permute' | 'concat' | 'cast' | 'write' | 'upsampleNearest' | 'embed' | 'toRgb8'
>;

const tileBytes = 1 << 17;

interface Runs {
  readonly to: number;
  readonly toStride: number;
  readonly from: number;
  readonly fromStride: number;
  readonly bytes: number;
  readonly rows: number;
}

/** Copies rows of bytes; a single run goes at once. */
function copyRuns(d: CpuDevice, { to, toStride, from, fromStride, bytes, rows }: Runs): void {
  if (rows === 0 || bytes === 0) return;
  if (rows === 1) {
    d.memory.bytes(to, bytes).set(d.memory.bytes(from, bytes));
    return;
  }
  const block = Math.max(1, Math.floor(tileBytes / bytes));
  d.pool.run('copyRows', { block, total: rows, to, toStride, from, fromStride, bytes }, Math.ceil(rows / block));
}

export function layoutOps(d: CpuDevice): LayoutOps {
  return {
    view: (x, shape) => d.scopes.track(own(x).alias(guards.viewShape(x, shape), 0)),
    slice(x, axis, start, end) {
      const shape = guards.sliceShape(x, axis, start, end);
      const tensor = own(x);
      if (axis === 0) return d.scopes.track(tensor.alias(shape, start * elementCount(shape.slice(1))));
      const out = d.scopes.make(shape, x.dtype);
      const inner = elementCount(shape.slice(axis + 1)) * dtypeBytes(x.dtype);
      const fromStride = (x.shape[axis] ?? 0) * inner;
      const bytes = (end - start) * inner;
      const rows = elementCount(shape.slice(0, axis));
      const from = tensor.address + start * inner;
      copyRuns(d, { to: out.address, toStride: bytes, from, fromStride, bytes, rows });
      return out;
    },
    permute(x, axes) {
      const out = d.scopes.make(guards.permuteShape(x, axes), x.dtype);
      permuteInto(d, out, own(x), axes);
      return out;
    },
    concat(parts, axis) {
      const shape = guards.concatShape(parts, axis);
      const out = d.scopes.make(shape, (parts[0] as Tensor).dtype);
      const inner = elementCount(shape.slice(axis + 1)) * dtypeBytes(out.dtype);
      const rows = elementCount(shape.slice(0, axis));
      const toStride = (shape[axis] ?? 0) * inner;
      let to = out.address;
      for (const part of parts) {
        const bytes = (part.shape[axis] ?? 0) * inner;
        copyRuns(d, { to, toStride, from: own(part).address, fromStride: bytes, bytes, rows });
        to += bytes;
      }
      return out;
    },
    cast(x, dtype) {
      const out = d.scopes.make(x.shape, dtype);
      convertInto(d, out, own(x));
      return out;
    },
    write(dst, src) {
      guards.checkWrite(dst, src);
      convertInto(d, own(dst), own(src));
    },
    upsampleNearest(x, factor) {
      const out = d.scopes.make(guards.upsampleShape(x, factor), x.dtype);
      const [t, h, w, c] = x.shape as readonly [number, number, number, number];
      const pixel = c * dtypeBytes(x.dtype);
      const block = Math.max(1, Math.floor(tileBytes / Math.max(1, w * pixel * factor * factor)));
      const job = { block, total: t * h, to: out.address, from: own(x).address, w, pixel, factor };
      d.pool.run('upsample', job, Math.ceil((t * h) / block));
      return out;
    },
    embed(table, ids) {
      const shape = guards.embedShape(table, ids);
      const rows = new Int32Array(d.memory.wasm.buffer, own(ids).address, shape[0] ?? 0);
      if (table instanceof CpuWeight) {
        const out = d.scopes.make(shape, 'f32');
        d.weights.gather(table, rows, out.address);
        return out;
      }
      const { address, dtype } = own(table);
      const out = d.scopes.make(shape, dtype);
      const bytes = (shape[1] ?? 0) * dtypeBytes(dtype);
      for (const [i, id] of rows.entries()) {
        if (id < 0 || id >= (table.shape[0] ?? 0))
          throw new RangeError(`embed: id ${id} of a table with ${table.shape[0]} rows`);
        d.memory.bytes(out.address + i * bytes, bytes).set(d.memory.bytes(address + id * bytes, bytes));
      }
      return out;
    },
    toRgb8(x) {
      const floats = asFloats(d, x);
      const out = d.scopes.make(x.shape, 'u8');
      const job = { block: elementsPerTile, total: floats.count, to: out.address, x: floats.address };
      d.pool.run('toBytes', job, Math.ceil(floats.count / elementsPerTile));
      return out;
    },
  };
}

interface Axis {
  size: number;
  /** Bytes from one index to the next in the source. */
  readonly stride: number;
}

/** Axes of the result that still differ from the source's order: neighbours merged, runs of bytes taken off the end. */
function mergeAxes(x: CpuTensor, axes: readonly number[]): { readonly merged: Axis[]; readonly unit: number } {
  const merged: Axis[] = [];
  for (const axis of axes) {
    const size = x.shape[axis] ?? 1;
    const stride = elementCount(x.shape.slice(axis + 1)) * dtypeBytes(x.dtype);
    const last = merged.at(-1);
    if (size === 1) continue;
    if (last && last.stride === size * stride) merged[merged.length - 1] = { size: last.size * size, stride };
    else merged.push({ size, stride });
  }
  const end = merged.at(-1);
  if (end && end.stride === dtypeBytes(x.dtype)) {
    merged.pop();
    return { merged, unit: end.size * end.stride };
  }
  return { merged, unit: dtypeBytes(x.dtype) };
}

function permuteInto(d: CpuDevice, out: CpuTensor, x: CpuTensor, axes: readonly number[]): void {
  if (x.count === 0) return;
  const { merged, unit } = mergeAxes(x, axes);
  if (merged.length > maxAxes) throw new ShapeError('permute', `${merged.length} axes, at most ${maxAxes}`);
  const inner = merged.splice(Math.max(0, merged.length - 3));
  while (inner.length < 3) inner.unshift({ size: 1, stride: 0 });
  const [a, b, c] = inner as [Axis, Axis, Axis];
  const rowBytes = b.size * c.size * unit;
  const split = Math.min(a.size, Math.max(1, Math.floor(tileBytes / rowBytes)));
  const blocks = merged.reduce((product, { size }) => product * size, 1);
  const job = {
    to: out.address,
    from: x.address,
    unit,
    outer: merged.length,
    n0: a.size,
    s0: a.stride,
    n1: b.size,
    s1: b.stride,
    n2: c.size,
    s2: c.stride,
    split,
  };
  const extra = merged.flatMap(({ size, stride }) => [size, stride]);
  d.pool.run('permute', job, blocks * Math.ceil(a.size / split), extra);
}
