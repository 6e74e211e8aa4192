// Element types to float32 and back. Widening is exact; narrowing rounds to nearest, ties to even.
import { type DType, dtypeBytes, elementCount, type HostTensor } from '../backend/index.js';

/** Element types that values can be narrowed to. */
export type FloatDType = 'f32' | 'bf16' | 'f16' | 'f8e4m3';

let halfTable: Float32Array | undefined;
const byteTables = new Map<string, Float32Array>();

/** Every value of a small float format: sign, `exponentBits`, `mantissaBits`. `finite` formats (E4M3) have one NaN and no infinity. */
function makeTable(exponentBits: number, mantissaBits: number, finite: boolean): Float32Array {
  const bits = 1 + exponentBits + mantissaBits;
  const table = new Float32Array(2 ** bits);
  const topExponent = 2 ** exponentBits - 1;
  const bias = 2 ** (exponentBits - 1) - 1;
  const steps = 2 ** mantissaBits;
  for (let code = 0; code < table.length; code++) {
    const sign = code >= table.length / 2 ? -1 : 1;
    const exponent = Math.floor(code / steps) & topExponent;
    const mantissa = code & (steps - 1);
    const isNan = exponent === topExponent && (finite ? mantissa === steps - 1 : mantissa > 0);
    const magnitude =
      exponent === 0
        ? (mantissa / steps) * 2 ** (1 - bias)
        : exponent === topExponent && !finite
          ? Number.POSITIVE_INFINITY
          : (1 + mantissa / steps) * 2 ** (exponent - bias);
    table[code] = isNan ? Number.NaN : sign * magnitude;
  }
  return table;
}

function byteTable(dtype: 'f8e4m3' | 'f8e5m2'): Float32Array {
  let table = byteTables.get(dtype);
  if (table === undefined) {
    table = dtype === 'f8e4m3' ? makeTable(4, 3, true) : makeTable(5, 2, false);
    byteTables.set(dtype, table);
  }
  return table;
}

/** The same bytes at an offset that an array of `size`-byte elements can start at. */
function align(bytes: Uint8Array, size: number): Uint8Array {
  return bytes.byteOffset % size === 0 ? bytes : bytes.slice();
}

/**
 * Elements as float32, in a fresh array. Exact for the float types; integers beyond 2^24 round.
 * @param bytes little-endian elements.
 */
export function decodeFloat32(bytes: Uint8Array, dtype: DType): Float32Array<ArrayBuffer> {
  const count = bytes.byteLength / dtypeBytes(dtype);
  const { buffer, byteOffset } = align(bytes, dtypeBytes(dtype));
  switch (dtype) {
    case 'f32':
      return new Float32Array(new Float32Array(buffer, byteOffset, count));
    case 'bf16': {
      const values = new Float32Array(count);
      const bits = new Uint32Array(values.buffer);
      const source = new Uint16Array(buffer, byteOffset, count);
      for (let i = 0; i < count; i++) bits[i] = (source[i] as number) << 16;
      return values;
    }
    case 'f16': {
      halfTable ??= makeTable(5, 10, false);
      return lookUp(new Uint16Array(buffer, byteOffset, count), halfTable);
    }
    case 'f8e4m3':
    case 'f8e5m2':
      return lookUp(bytes, byteTable(dtype));
    case 'u8':
      return new Float32Array(bytes);
    case 'i32':
      return new Float32Array(new Int32Array(buffer, byteOffset, count));
    case 'i64':
      return Float32Array.from(new BigInt64Array(buffer, byteOffset, count), Number);
    default:
      return dtype satisfies never;
  }
}

function lookUp(codes: Uint8Array | Uint16Array, table: Float32Array): Float32Array<ArrayBuffer> {
  const values = new Float32Array(codes.length);
  for (let i = 0; i < codes.length; i++) values[i] = table[codes[i] as number] as number;
  return values;
}

/**
 * A host tensor's values as float32, in a fresh array in its own order; the scale of an FP8 tensor is applied.
 * @throws RangeError when its scale is neither one value nor one per row.
 */
export function toFloat32(tensor: HostTensor): Float32Array<ArrayBuffer> {
  const values = decodeFloat32(tensor.bytes, tensor.dtype);
  if (tensor.scale === undefined) return values;
  const scale = decodeFloat32(tensor.scale.bytes, tensor.scale.dtype);
  const rows = tensor.shape[0] ?? 1;
  if (scale.length !== 1 && scale.length !== rows) {
    throw new RangeError(`a scale of ${scale.length} values fits neither the tensor nor its ${rows} rows`);
  }
  const columns = elementCount(tensor.shape.slice(1));
  for (let row = 0; row < rows; row++) {
    const factor = (scale.length === 1 ? scale[0] : scale[row]) as number;
    for (let i = row * columns; i < (row + 1) * columns; i++) values[i] = (values[i] as number) * factor;
  }
  return values;
}

/** Narrows values to a float type. Beyond its range f16 becomes infinite and E4M3 saturates at 448, as hardware casts do. */
export function fromFloat32(values: Float32Array, dtype: FloatDType): Uint8Array<ArrayBuffer> {
  if (dtype === 'f32') return new Uint8Array(new Float32Array(values).buffer);
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const codes = dtypeBytes(dtype) === 2 ? new Uint16Array(values.length) : new Uint8Array(values.length);
  const encode = encoders[dtype];
  for (let i = 0; i < values.length; i++) codes[i] = encode(bits[i] as number);
  return new Uint8Array(codes.buffer);
}

const encoders: Readonly<Record<Exclude<FloatDType, 'f32'>, (bits: number) => number>> = {
  bf16: encodeBfloat16,
  f16: encodeHalf,
  f8e4m3: encodeE4m3,
};

function encodeBfloat16(bits: number): number {
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >>> 16) | 0x40;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

function encodeHalf(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  // Below 2^-14 the step is fixed at 2^-24.
  if (magnitude < 0x38800000) return sign | roundToEven(floatOf(magnitude) * 2 ** 24);
  return sign | ((magnitude - (112 << 23) + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
}

function encodeE4m3(bits: number): number {
  const sign = (bits >>> 24) & 0x80;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7f;
  // 448 is 0x43e00000, the largest value.
  if (magnitude >= 0x43e00000) return sign | 0x7e;
  // Below 2^-6 the step is fixed at 2^-9.
  if (magnitude < 0x3c800000) return sign | roundToEven(floatOf(magnitude) * 2 ** 9);
  return sign | Math.min(0x7e, (magnitude - (120 << 23) + 0x7ffff + ((magnitude >>> 20) & 1)) >>> 20);
}

function floatOf(bits: number): number {
  const exponent = bits >>> 23;
  const mantissa = bits & 0x7fffff;
  return exponent === 0 ? mantissa * 2 ** -149 : (0x800000 + mantissa) * 2 ** (exponent - 150);
}

function roundToEven(x: number): number {
  const down = Math.floor(x);
  const rest = x - down;
  return rest > 0.5 || (rest === 0.5 && (down & 1) === 1) ? down + 1 : down;
}
