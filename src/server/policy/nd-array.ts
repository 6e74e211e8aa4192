// Arrays of robots: numpy's, as bytes with a type and a shape, or nested lists of numbers.
import { RequestError, showValue } from '../../protocol/index.js';

/** A numpy array: bytes in C order. */
export class NdArray {
  /** @param dtype numpy's word, as `<f4` or `|u1` */
  constructor(
    readonly dtype: string,
    readonly shape: readonly number[],
    readonly data: Uint8Array,
  ) {}
}

interface NumberType {
  readonly bytes: number;
  readonly read: (view: DataView, offset: number, little: boolean) => number;
}

const types: Readonly<Record<string, NumberType>> = {
  b1: { bytes: 1, read: (view, at) => view.getUint8(at) },
  u1: { bytes: 1, read: (view, at) => view.getUint8(at) },
  i1: { bytes: 1, read: (view, at) => view.getInt8(at) },
  u2: { bytes: 2, read: (view, at, little) => view.getUint16(at, little) },
  i2: { bytes: 2, read: (view, at, little) => view.getInt16(at, little) },
  u4: { bytes: 4, read: (view, at, little) => view.getUint32(at, little) },
  i4: { bytes: 4, read: (view, at, little) => view.getInt32(at, little) },
  u8: { bytes: 8, read: (view, at, little) => Number(view.getBigUint64(at, little)) },
  i8: { bytes: 8, read: (view, at, little) => Number(view.getBigInt64(at, little)) },
  f2: { bytes: 2, read: (view, at, little) => halfToNumber(view.getUint16(at, little)) },
  f4: { bytes: 4, read: (view, at, little) => view.getFloat32(at, little) },
  f8: { bytes: 8, read: (view, at, little) => view.getFloat64(at, little) },
};

function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Number of elements of a shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, side) => product * side, 1);
}

/** Bytes of one element of a type; null for types that hold no numbers (structured, object, complex, text). */
export function elementBytes(dtype: string): number | null {
  return types[dtype.slice(1)]?.bytes ?? null;
}

/** The numbers of an array, in C order. @throws RequestError for a type that holds none, or bytes that do not fit the shape */
export function numbersOf(name: string, { dtype, shape, data }: NdArray): readonly number[] {
  const type = types[dtype.slice(1)];
  const fail = (why: string): never => {
    throw new RequestError('invalid_value', name, `${name} ${why}`);
  };
  if (type === undefined) return fail(`must hold numbers, got dtype ${showValue(dtype)}`);
  const count = sizeOf(shape);
  if (data.length !== count * type.bytes) {
    fail(`has ${data.length} bytes, its shape ${JSON.stringify(shape)} of ${dtype} needs ${count * type.bytes}`);
  }
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const little = !dtype.startsWith('>');
  return Array.from({ length: count }, (_, i) => type.read(view, i * type.bytes, little));
}

/** A value as shape and numbers: an array, a number, or nested lists of them. @throws RequestError */
export function readTensor(
  name: string,
  value: unknown,
): { readonly shape: readonly number[]; readonly numbers: readonly number[] } {
  if (value instanceof NdArray) return { shape: value.shape, numbers: numbersOf(name, value) };
  if (typeof value === 'number') return { shape: [], numbers: [value] };
  const shape: number[] = [];
  for (let level: unknown = value; Array.isArray(level) && shape.length < 5; level = level[0]) shape.push(level.length);
  const flat: readonly unknown[] = Array.isArray(value) ? value.flat(4) : [];
  const isNumber = (item: unknown): item is number => typeof item === 'number';
  if (shape.length > 0 && flat.length === sizeOf(shape) && flat.every(isNumber)) return { shape, numbers: flat };
  throw new RequestError('invalid_value', name, `${name} must be an array of numbers, got ${showValue(value ?? null)}`);
}
