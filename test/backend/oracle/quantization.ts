// Quantisation of the oracle: rows as E4M3 codes with a factor each, every step rounded to float32 as devices do.
import { fromFloats, toFloats } from './number-formats.js';

/** The largest number of E4M3. */
const largestE4m3 = 448;

/** The smallest factor of a row, so that rows of zeros do not divide by zero. */
const smallestScale = 1e-12;

export interface QuantizedLoops {
  readonly codes: Uint8Array;
  readonly scales: Float32Array;
}

/** Rows of `k` floats. */
export function quantizeLoops(x: Float32Array, k: number): QuantizedLoops {
  const scaled = new Float32Array(x.length);
  const scales = new Float32Array(x.length / k);
  for (let row = 0; row < scales.length; row++) {
    let largest = 0;
    for (let i = 0; i < k; i++) largest = Math.max(largest, Math.abs(x[row * k + i] as number));
    scales[row] = Math.max(Math.fround(largest / largestE4m3), Math.fround(smallestScale));
    const inverse = Math.fround(1 / (scales[row] as number));
    for (let i = 0; i < k; i++) scaled[row * k + i] = (x[row * k + i] as number) * inverse;
  }
  return { codes: fromFloats(scaled, 'f8e4m3'), scales };
}

/** The numbers that codes with factors stand for. */
export function dequantizeLoops({ codes, scales }: QuantizedLoops): Float32Array {
  const k = codes.length / Math.max(scales.length, 1);
  return toFloats(codes, 'f8e4m3').map((value, i) => value * (scales[Math.floor(i / k)] as number));
}

/** What is left of rows of `k` floats after quantisation. */
export function quantizedFloats(x: Float32Array, k: number): Float32Array {
  return dequantizeLoops(quantizeLoops(x, k));
}
