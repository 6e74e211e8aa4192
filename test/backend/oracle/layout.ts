// Layout ops of the oracle: element indices by strides, any dtype.
import { dtypeBytes, elementCount, type Tensor } from '../../../src/backend/index.js';
import { fromFloats, toNumbers } from './number-formats.js';
import { own, type Shape } from './oracle-tensor.js';

/** Bytes of rows `start..end` of an axis, copied. */
export function sliceBytes(x: Tensor, axis: number, start: number, end: number): Uint8Array {
  const size = x.shape[axis] ?? 0;
  const outer = elementCount(x.shape.slice(0, axis));
  const inner = elementCount(x.shape.slice(axis + 1)) * dtypeBytes(x.dtype);
  const from = own(x).bytes;
  const out = new Uint8Array(outer * (end - start) * inner);
  for (let o = 0; o < outer; o++)
    out.set(from.subarray((o * size + start) * inner, (o * size + end) * inner), o * (end - start) * inner);
  return out;
}

/** Bytes of the parts beside each other on an axis. */
export function concatBytes(parts: readonly Tensor[], axis: number, shape: Shape, out: Uint8Array): void {
  const outer = elementCount(shape.slice(0, axis));
  const row = out.length / Math.max(outer, 1);
  let at = 0;
  for (const part of parts) {
    const from = own(part).bytes;
    const width = from.length / Math.max(outer, 1);
    for (let o = 0; o < outer; o++) out.set(from.subarray(o * width, (o + 1) * width), o * row + at);
    at += width;
  }
}

/** Elements of `x` in the order of permuted axes. */
export function permuteBytes(x: Tensor, axes: readonly number[], out: Uint8Array): void {
  const size = dtypeBytes(x.dtype);
  const from = own(x).bytes;
  const strides = x.shape.map((_, i) => elementCount(x.shape.slice(i + 1)));
  const sizes = axes.map((axis) => x.shape[axis] ?? 0);
  const steps = axes.map((axis) => strides[axis] ?? 0);
  const index = new Array<number>(axes.length).fill(0);
  let source = 0;
  for (let i = 0; i < out.length; i += size) {
    for (let b = 0; b < size; b++) out[i + b] = from[source * size + b] as number;
    for (let axis = axes.length - 1; axis >= 0; axis--) {
      const step = steps[axis] as number;
      index[axis] = (index[axis] as number) + 1;
      source += step;
      if ((index[axis] as number) < (sizes[axis] as number)) break;
      source -= step * (sizes[axis] as number);
      index[axis] = 0;
    }
  }
}

/** `src` written over `dst`, converted. */
export function writeInto(dst: Tensor, src: Tensor): void {
  own(dst).bytes.set(
    dst.dtype === src.dtype ? own(src).bytes : fromFloats(toNumbers(own(src).bytes, src.dtype), dst.dtype),
  );
}

/** Rows of a `[V, C]` table. Ids outside it throw. */
export function gatherRows(table: Float32Array, ids: Int32Array, width: number): Float32Array {
  const out = new Float32Array(ids.length * width);
  for (let s = 0; s < ids.length; s++) {
    const id = ids[s] as number;
    if (id < 0 || (id + 1) * width > table.length)
      throw new RangeError(`embed: id ${id} of a table with ${table.length / width} rows`);
    out.set(table.subarray(id * width, (id + 1) * width), s * width);
  }
  return out;
}

/** Each pixel repeated `factor` times in height and width. */
export function upsample(x: Tensor, factor: number, out: Uint8Array): void {
  const [t, h, w, c] = x.shape as readonly [number, number, number, number];
  const pixel = c * dtypeBytes(x.dtype);
  const from = own(x).bytes;
  let at = 0;
  for (let frame = 0; frame < t; frame++)
    for (let y = 0; y < h * factor; y++)
      for (let i = 0; i < w * factor; i++, at += pixel) {
        const source = ((frame * h + Math.floor(y / factor)) * w + Math.floor(i / factor)) * pixel;
        out.set(from.subarray(source, source + pixel), at);
      }
}
