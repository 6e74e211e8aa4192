// Element conversions of the oracle: every dtype to float64 numbers and back, by arithmetic on the bit fields.
import { type DType, dtypeBytes } from '../../../src/backend/index.js';

const word = new DataView(new ArrayBuffer(4));

function bitsToFloat(bits: number): number {
  word.setUint32(0, bits);
  return word.getFloat32(0);
}

function floatToBits(value: number): number {
  word.setFloat32(0, value);
  return word.getUint32(0);
}

/** A small float of `exponent` and `mantissa` bits; `ieee` keeps the top exponent for infinities, else only all ones is NaN. */
function decodeSmall(bits: number, exponent: number, mantissa: number, ieee: boolean): number {
  const bias = 2 ** (exponent - 1) - 1;
  const sign = bits >> (exponent + mantissa) ? -1 : 1;
  const e = (bits >> mantissa) & (2 ** exponent - 1);
  const m = bits & (2 ** mantissa - 1);
  if (e === 2 ** exponent - 1) {
    if (ieee) return m ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    if (m === 2 ** mantissa - 1) return Number.NaN;
  }
  return e ? sign * (1 + m / 2 ** mantissa) * 2 ** (e - bias) : (sign * m * 2 ** (1 - bias)) / 2 ** mantissa;
}

/** Nearest, ties to even; finite overflow saturates in FP8 and becomes infinite in float16. */
function encodeSmall(value: number, exponent: number, mantissa: number, ieee: boolean): number {
  const bias = 2 ** (exponent - 1) - 1;
  const sign = (value < 0 || Object.is(value, -0) ? 1 : 0) << (exponent + mantissa);
  const top = 2 ** exponent - 1;
  if (Number.isNaN(value)) return sign | (top << mantissa) | (2 ** mantissa - 1);
  const size = Math.abs(value);
  const largest = ieee ? (top << mantissa) - 1 : (top << mantissa) + 2 ** mantissa - 2;
  const infinite = exponent === 5 && mantissa === 10 ? top << mantissa : largest;
  if (size === Number.POSITIVE_INFINITY) return sign | (ieee ? top << mantissa : largest);
  if (size === 0) return sign;
  const e = Math.max(Math.floor(Math.log2(size)), 1 - bias);
  const steps = size / 2 ** (e - mantissa); // in units of the last place of exponent e
  const floor = Math.floor(steps);
  const rest = steps - floor;
  const rounded = rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
  const code = (e - 1 + bias) * 2 ** mantissa + rounded; // a carry into the exponent is the right next number
  return sign | (code > largest ? infinite : code);
}

function encodeBf16(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  const bits = floatToBits(value);
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

/** Elements as float32 (integers too). A view for float32, a copy for the rest. */
export function toFloats(bytes: Uint8Array, dtype: DType): Float32Array {
  const count = bytes.byteLength / dtypeBytes(dtype);
  const { buffer, byteOffset } = bytes;
  if (dtype === 'f32' && byteOffset % 4 === 0) return new Float32Array(buffer, byteOffset, count);
  const out = new Float32Array(count);
  fillNumbers(bytes, dtype, out);
  return out;
}

/** Elements as float64, exact for every dtype but 64-bit integers beyond 2^53. */
export function toNumbers(bytes: Uint8Array, dtype: DType): Float64Array {
  const out = new Float64Array(bytes.byteLength / dtypeBytes(dtype));
  fillNumbers(bytes, dtype, out);
  return out;
}

function fillNumbers(bytes: Uint8Array, dtype: DType, out: Float32Array | Float64Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < out.length; i++) out[i] = readElement(view, i, dtype);
}

function readElement(view: DataView, i: number, dtype: DType): number {
  switch (dtype) {
    case 'f32':
      return view.getFloat32(4 * i, true);
    case 'bf16':
      return bitsToFloat(view.getUint16(2 * i, true) * 65536);
    case 'f16':
      return decodeSmall(view.getUint16(2 * i, true), 5, 10, true);
    case 'f8e4m3':
      return decodeSmall(view.getUint8(i), 4, 3, false);
    case 'f8e5m2':
      return decodeSmall(view.getUint8(i), 5, 2, true);
    case 'i64':
      return Number(view.getBigInt64(8 * i, true));
    case 'i32':
      return view.getInt32(4 * i, true);
    case 'u8':
      return view.getUint8(i);
    default:
      return dtype satisfies never;
  }
}

/** Numbers as elements of `dtype`; integers are cut toward zero. */
export function fromFloats(values: ArrayLike<number>, dtype: DType): Uint8Array {
  if (dtype === 'f32') return new Uint8Array(Float32Array.from(values).buffer);
  const bytes = new Uint8Array(values.length * dtypeBytes(dtype));
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < values.length; i++) writeElement(view, i, dtype, values[i] as number);
  return bytes;
}

function writeElement(view: DataView, i: number, dtype: DType, value: number): void {
  if (dtype === 'f32') view.setFloat32(4 * i, value, true);
  else if (dtype === 'bf16') view.setUint16(2 * i, encodeBf16(value), true);
  else if (dtype === 'f16') view.setUint16(2 * i, encodeSmall(value, 5, 10, true), true);
  else if (dtype === 'f8e4m3') view.setUint8(i, encodeSmall(value, 4, 3, false));
  else if (dtype === 'f8e5m2') view.setUint8(i, encodeSmall(value, 5, 2, true));
  else if (dtype === 'i64') view.setBigInt64(8 * i, BigInt(Math.trunc(value)), true);
  else if (dtype === 'i32') view.setInt32(4 * i, Math.trunc(value), true);
  else view.setUint8(i, Math.trunc(value));
}
