// What the fake cuDNN computes: attention and convolutions with a bias, by plain loops over strided tensors.
import { viewAddress } from '../../src/native/index.js';

export interface TensorShape {
  readonly uid: number;
  readonly dtype: number;
  readonly sizes: readonly number[];
  readonly strides: readonly number[];
}

type Maybe = TensorShape | null;

export type Operation =
  | {
      readonly kind: 'attention';
      readonly q: Maybe;
      readonly k: Maybe;
      readonly v: Maybe;
      readonly out: Maybe;
      readonly scale: Maybe;
      readonly length: Maybe;
      readonly factor?: number;
    }
  | {
      readonly kind: 'convolution';
      readonly x: Maybe;
      readonly w: Maybe;
      readonly out: Maybe;
      readonly stride: readonly number[];
      readonly dilation: readonly number[];
      readonly before: readonly number[];
      readonly after: readonly number[];
    }
  | { readonly kind: 'add'; readonly bias: Maybe; readonly out: Maybe };

const float32 = 0;
const int32 = 4;

/** A tensor's elements by their indices. */
class Elements {
  readonly #view: DataView;
  readonly #shape: TensorShape;

  constructor(shape: Maybe, at: ReadonlyMap<number, number>) {
    if (!shape) throw new Error('an operand is missing');
    const { uid, dtype, sizes, strides } = shape;
    const count = 1 + sizes.reduce((sum, size, i) => sum + (size - 1) * (strides[i] ?? 0), 0);
    const bytes = viewAddress(BigInt(at.get(uid) ?? 0), count * (dtype === float32 || dtype === int32 ? 4 : 2));
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#shape = shape;
  }

  get sizes(): readonly number[] {
    return this.#shape.sizes;
  }

  get(...indices: readonly number[]): number {
    const place = this.#place(indices);
    if (this.#shape.dtype === int32) return this.#view.getInt32(4 * place, true);
    if (this.#shape.dtype === float32) return this.#view.getFloat32(4 * place, true);
    word.setUint32(0, this.#view.getUint16(2 * place, true) << 16);
    return word.getFloat32(0);
  }

  set(value: number, ...indices: readonly number[]): void {
    word.setFloat32(0, value);
    const bits = word.getUint32(0);
    this.#view.setUint16(2 * this.#place(indices), (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16, true);
  }

  #place(indices: readonly number[]): number {
    return indices.reduce((sum, index, axis) => sum + index * (this.#shape.strides[axis] ?? 0), 0);
  }
}

const word = new DataView(new ArrayBuffer(4));

export function runOperations(operations: readonly Operation[], at: ReadonlyMap<number, number>): void {
  const shift = operations.find(({ kind }) => kind === 'add');
  for (const operation of operations) {
    if (operation.kind === 'attention') attend(operation, at);
    if (operation.kind === 'convolution') convolve(operation, shift?.kind === 'add' ? shift : null, at);
  }
}

function attend(op: Extract<Operation, { kind: 'attention' }>, at: ReadonlyMap<number, number>): void {
  const [q, k, v, out] = [op.q, op.k, op.v, op.out].map((shape) => new Elements(shape, at)) as [
    Elements,
    Elements,
    Elements,
    Elements,
  ];
  const [, heads = 0, rows = 0, d = 0] = q.sizes;
  const [, groups = 1, all = 0] = k.sizes;
  const keys = op.length ? new Elements(op.length, at).get(0, 0, 0, 0) : all;
  for (let head = 0; head < heads; head++)
    for (let row = 0; row < rows; row++) {
      const group = Math.floor(head / (heads / groups));
      const scores = Array.from({ length: keys }, (_, key) => {
        let score = 0;
        for (let i = 0; i < d; i++) score += q.get(0, head, row, i) * k.get(0, group, key, i);
        return score * (op.factor ?? 1);
      });
      const largest = scores.reduce((most, score) => Math.max(most, score), -Infinity);
      const weights = scores.map((score) => Math.exp(score - largest));
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      for (let i = 0; i < d; i++) {
        let sum = 0;
        // Masked scores become zero weights: what they multiply must be a number.
        for (let key = 0; key < all; key++) sum += ((weights[key] ?? 0) / total) * v.get(0, group, key, i);
        out.set(sum, 0, head, row, i);
      }
    }
}

/** Indices of a box, last axis fastest. */
function* indicesOf(sizes: readonly number[]): Generator<number[]> {
  const count = sizes.reduce((product, size) => product * size, 1);
  for (let i = 0; i < count; i++) {
    const place: number[] = [];
    let rest = i;
    for (const size of [...sizes].reverse()) {
      place.unshift(rest % size);
      rest = Math.floor(rest / size);
    }
    yield place;
  }
}

function convolve(
  op: Extract<Operation, { kind: 'convolution' }>,
  shift: Extract<Operation, { kind: 'add' }> | null,
  at: ReadonlyMap<number, number>,
): void {
  const [x, w] = [new Elements(op.x, at), new Elements(op.w, at)];
  const out = new Elements(shift ? shift.out : op.out, at);
  const bias = shift ? new Elements(shift.bias, at) : null;
  const [batch = 0, channels = 0, ...input] = x.sizes;
  const [outputs = 0, , ...kernel] = w.sizes;
  const [, , ...output] = out.sizes;
  for (const [axis, size] of output.entries()) {
    const padded = (input[axis] ?? 0) + (op.before[axis] ?? 0) + (op.after[axis] ?? 0);
    const reach = ((kernel[axis] ?? 1) - 1) * (op.dilation[axis] ?? 1) + 1;
    const wanted = Math.floor((padded - reach) / (op.stride[axis] ?? 1)) + 1;
    if (wanted !== size) throw new Error(`axis ${axis} has ${size} points, padding makes ${wanted}`);
  }
  for (let n = 0; n < batch; n++)
    for (const point of indicesOf(output))
      for (let o = 0; o < outputs; o++) {
        let sum = bias ? bias.get(0, o, ...point.map(() => 0)) : 0;
        for (const tap of indicesOf(kernel)) {
          const place = tap.map(
            (k, axis) =>
              (point[axis] ?? 0) * (op.stride[axis] ?? 1) + k * (op.dilation[axis] ?? 1) - (op.before[axis] ?? 0),
          );
          if (place.some((index, axis) => index < 0 || index >= (input[axis] ?? 0))) continue;
          for (let c = 0; c < channels; c++) sum += x.get(n, c, ...place) * w.get(o, c, ...tap);
        }
        out.set(sum, n, o, ...point);
      }
}
