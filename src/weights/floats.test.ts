// Every code of every small float format, there and back.
import { describe, expect, it } from 'vitest';
import { decodeFloat32, fromFloat32, toFloat32 } from './floats.js';

function bytesOf(array: Uint16Array | Float32Array | BigInt64Array | Int32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

const codes16 = Uint16Array.from({ length: 65536 }, (_, i) => i);
const codes8 = Uint8Array.from({ length: 256 }, (_, i) => i);

// The formats' definition, written apart from the code under test.
function finiteValue(code: number, exponentBits: number, mantissaBits: number): number {
  const sign = code >> (exponentBits + mantissaBits) ? -1 : 1;
  const exponent = (code >> mantissaBits) & ((1 << exponentBits) - 1);
  const mantissa = code & ((1 << mantissaBits) - 1);
  const bias = (1 << (exponentBits - 1)) - 1;
  if (exponent === 0) return sign * mantissa * 2 ** (1 - bias - mantissaBits);
  return sign * (2 ** mantissaBits + mantissa) * 2 ** (exponent - bias - mantissaBits);
}

describe('decodeFloat32', () => {
  it('widens all 65536 bf16 codes', () => {
    const bits = new Uint32Array(decodeFloat32(bytesOf(codes16), 'bf16').buffer);
    expect(bits.every((word, code) => word === (code << 16) >>> 0)).toBe(true);
  });

  it('widens all 65536 f16 codes', () => {
    const values = decodeFloat32(bytesOf(codes16), 'f16');
    const wrong = [...codes16].filter((code) => {
      const expected =
        (code & 0x7c00) !== 0x7c00
          ? finiteValue(code, 5, 10)
          : code & 0x3ff
            ? Number.NaN
            : code >> 15
              ? Number.NEGATIVE_INFINITY
              : Number.POSITIVE_INFINITY;
      return !Object.is(values[code], expected);
    });
    expect(wrong).toEqual([]);
    expect(values[0x3555]).toBe(0.333251953125);
    expect(values[0x0001]).toBe(2 ** -24);
    expect(values[0x7bff]).toBe(65504);
  });

  it('widens all 256 E4M3 codes: one NaN per sign, no infinity', () => {
    const values = decodeFloat32(codes8, 'f8e4m3');
    const wrong = [...codes8].filter((code) => {
      const expected = (code & 0x7f) === 0x7f ? Number.NaN : finiteValue(code, 4, 3);
      return !Object.is(values[code], expected);
    });
    expect(wrong).toEqual([]);
    expect([values[0x7e], values[0x01], values[0x38], values[0xb8]]).toEqual([448, 2 ** -9, 1, -1]);
  });

  it('widens all 256 E5M2 codes as the upper half of f16', () => {
    const values = decodeFloat32(codes8, 'f8e5m2');
    const half = decodeFloat32(bytesOf(codes16), 'f16');
    expect([...codes8].filter((code) => !Object.is(values[code], half[code << 8]))).toEqual([]);
    expect(values[0x7b]).toBe(57344);
  });

  it('takes float32 and integers, and bytes at odd offsets', () => {
    const floats = new Float32Array([1.5, -0, 3e38]);
    const shifted = new Uint8Array(13);
    shifted.set(bytesOf(floats), 1);
    expect(decodeFloat32(shifted.subarray(1), 'f32')).toEqual(floats);
    expect([...decodeFloat32(bytesOf(new BigInt64Array([-5n, 9n])), 'i64')]).toEqual([-5, 9]);
    expect([...decodeFloat32(bytesOf(new Int32Array([-7])), 'i32')]).toEqual([-7]);
    expect([...decodeFloat32(new Uint8Array([255]), 'u8')]).toEqual([255]);
  });
});

describe('fromFloat32', () => {
  it('gives back every bf16 and f16 code', () => {
    for (const dtype of ['bf16', 'f16'] as const) {
      const back = new Uint16Array(fromFloat32(decodeFloat32(bytesOf(codes16), dtype), dtype).buffer);
      const values = decodeFloat32(bytesOf(codes16), dtype);
      const wrong = [...codes16].filter((code) => back[code] !== code && !Number.isNaN(values[code]));
      expect(wrong).toEqual([]);
      expect(decodeFloat32(bytesOf(back), dtype).filter(Number.isNaN).length).toBe(values.filter(Number.isNaN).length);
    }
  });

  it('gives back every E4M3 code', () => {
    const back = fromFloat32(decodeFloat32(codes8, 'f8e4m3'), 'f8e4m3');
    // JavaScript has one NaN, so its sign is lost.
    expect([...back]).toEqual([...codes8.subarray(0, 255), 0x7f]);
  });

  it('rounds to nearest, ties to even', () => {
    const halves = new Float32Array([
      1 + 2 ** -11,
      1 + 3 * 2 ** -11,
      2 ** -25,
      3 * 2 ** -25,
      65519,
      65520,
      -1 - 2 ** -11,
    ]);
    expect([...new Uint16Array(fromFloat32(halves, 'f16').buffer)]).toEqual([
      0x3c00, 0x3c02, 0x0000, 0x0002, 0x7bff, 0x7c00, 0xbc00,
    ]);
    const brains = new Float32Array([1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -8 + 2 ** -20, 3.4e38]);
    expect([...new Uint16Array(fromFloat32(brains, 'bf16').buffer)]).toEqual([0x3f80, 0x3f82, 0x3f81, 0x7f80]);
    const bytes = new Float32Array([17, 19, 464, 1e9, -1e9, 2 ** -10, 3 * 2 ** -10, 247.9]);
    expect([...fromFloat32(bytes, 'f8e4m3')]).toEqual([0x58, 0x5a, 0x7e, 0x7e, 0xfe, 0x00, 0x02, 0x77]);
  });
});

describe('toFloat32', () => {
  const fp8 = (scale: number[]) => ({
    shape: [2, 2],
    dtype: 'f8e4m3' as const,
    bytes: fromFloat32(new Float32Array([1, 2, 3, 4]), 'f8e4m3'),
    scale: { shape: [scale.length], dtype: 'f32' as const, bytes: bytesOf(new Float32Array(scale)) },
  });

  it('applies one scale, or one per row', () => {
    expect([...toFloat32(fp8([0.5]))]).toEqual([0.5, 1, 1.5, 2]);
    expect([...toFloat32(fp8([2, 10]))]).toEqual([2, 4, 30, 40]);
    expect(() => toFloat32(fp8([1, 2, 3]))).toThrow(/3 values/);
  });
});
