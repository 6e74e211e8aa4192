// Conversions between dtypes: the common ones by kernels, the rest element by element.
import { type DType, dtypeBytes, type Tensor } from '../../backend/index.js';
import { type CpuDevice, elementsPerTile } from '../cpu-device.js';
import { type CpuTensor, own } from '../storage/cpu-tensor.js';
import { floatNumbers } from '../storage/cpu-weight.js';

/** Writes the elements of `src` over those of `dst` (equal counts). Integers are cut toward zero, FP8 saturates. */
export function convertInto(d: CpuDevice, dst: CpuTensor, src: CpuTensor): void {
  const total = src.count;
  const [to, from] = [dst.address, src.address];
  const block = elementsPerTile;
  const tiles = Math.ceil(total / block);
  if (dst.dtype === src.dtype) d.memory.bytes(to, src.byteLength).set(d.memory.bytes(from, src.byteLength));
  else if (dst.dtype === 'f32' && floatNumbers[src.dtype] !== undefined) {
    const dtype = floatNumbers[src.dtype] ?? 0;
    d.pool.run('widen', { block, total, to, from, dtype, elementBytes: dtypeBytes(src.dtype) }, tiles);
  } else if (dst.dtype === 'bf16' && src.dtype === 'f32') d.pool.run('narrow', { block, total, to, from }, tiles);
  else writeNumbers(d, dst, readNumbers(d, src));
}

/** `x` itself when it is float32, else a float32 copy that lives as long as the surrounding scope. */
export function asFloats(d: CpuDevice, x: Tensor): CpuTensor {
  const tensor = own(x);
  if (tensor.dtype === 'f32') return tensor;
  const copy = d.scopes.make(tensor.shape, 'f32');
  convertInto(d, copy, tensor);
  return copy;
}

/** A float32 result, in the dtype that it should have. */
export function inDtype(d: CpuDevice, result: CpuTensor, dtype: DType): CpuTensor {
  if (result.dtype === dtype) return result;
  const converted = d.scopes.make(result.shape, dtype);
  convertInto(d, converted, result);
  return converted;
}

/** Elements as numbers. */
function readNumbers(d: CpuDevice, x: CpuTensor): ArrayLike<number> {
  const { buffer } = d.memory.wasm;
  const { dtype, address, count } = x;
  if (dtype === 'i32') return new Int32Array(buffer, address, count);
  if (dtype === 'u8') return new Uint8Array(buffer, address, count);
  if (dtype === 'i64') return Float64Array.from(new BigInt64Array(buffer, address, count), Number);
  if (dtype === 'f32') return d.memory.floats(address, count);
  const widened = d.memory.allocate(count * 4);
  try {
    d.pool.thread.kernels.widen(widened, address, count, floatNumbers[dtype] ?? 0, 1);
    return d.memory.floats(widened, count).slice();
  } finally {
    d.memory.free(widened);
  }
}

function writeNumbers(d: CpuDevice, x: CpuTensor, values: ArrayLike<number>): void {
  const { buffer } = d.memory.wasm;
  const { dtype, address, count } = x;
  if (dtype === 'i64') {
    const out = new BigInt64Array(buffer, address, count);
    for (let i = 0; i < count; i++) out[i] = BigInt(Math.trunc(values[i] as number));
    return;
  }
  const out = arrayOf(buffer, dtype, address, count);
  const format = formats[dtype];
  for (let i = 0; i < count; i++) out[i] = format ? encode(values[i] as number, format) : (values[i] as number);
}

function arrayOf(buffer: SharedArrayBuffer, dtype: DType, address: number, count: number) {
  if (dtype === 'f32') return new Float32Array(buffer, address, count);
  if (dtype === 'i32') return new Int32Array(buffer, address, count);
  return dtypeBytes(dtype) === 2 ? new Uint16Array(buffer, address, count) : new Uint8Array(buffer, address, count);
}

interface FloatFormat {
  readonly bias: number;
  readonly mantissa: number;
  readonly sign: number;
  /** Code of the largest number, what overflow becomes, what infinity becomes, a NaN. */
  readonly largest: number;
  readonly overflow: number;
  readonly infinity: number;
  readonly nan: number;
}

const formats: Readonly<Partial<Record<DType, FloatFormat>>> = {
  f16: { bias: 15, mantissa: 10, sign: 0x8000, largest: 0x7bff, overflow: 0x7c00, infinity: 0x7c00, nan: 0x7fff },
  bf16: { bias: 127, mantissa: 7, sign: 0x8000, largest: 0x7f7f, overflow: 0x7f80, infinity: 0x7f80, nan: 0x7fc0 },
  f8e4m3: { bias: 7, mantissa: 3, sign: 0x80, largest: 0x7e, overflow: 0x7e, infinity: 0x7e, nan: 0x7f },
  f8e5m2: { bias: 15, mantissa: 2, sign: 0x80, largest: 0x7b, overflow: 0x7b, infinity: 0x7c, nan: 0x7f },
};

/** Code of the nearest number of a format, ties to even. */
function encode(value: number, f: FloatFormat): number {
  if (Number.isNaN(value)) return f.nan;
  const sign = value < 0 || Object.is(value, -0) ? f.sign : 0;
  const size = Math.abs(value);
  if (size === Number.POSITIVE_INFINITY) return sign | f.infinity;
  const exponent = Math.max(size === 0 ? -1e4 : Math.floor(Math.log2(size)), 1 - f.bias);
  const units = size / 2 ** (exponent - f.mantissa);
  // Adding 2^52 leaves no bits for a fraction: the sum is rounded to even.
  const rounded = units + 2 ** 52 - 2 ** 52;
  const code = (exponent - 1 + f.bias) * 2 ** f.mantissa + rounded;
  return sign | (code > f.largest ? f.overflow : code);
}
