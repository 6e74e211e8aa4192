// What launchers of flat kernels share: names of element types, how wide an access may be, grids.
import { type DType, dtypeBytes } from '../../backend/index.js';

/** Names of the element types in `common.cuh`. */
export const typeNames: Readonly<Record<DType, string>> = {
  f32: 'float',
  f16: 'f16',
  bf16: 'bf16',
  f8e4m3: 'e4m3',
  f8e5m2: 'e5m2',
  i64: 'i64',
  i32: 'i32',
  u8: 'u8',
};

export const blockThreads = 256;

/** Types that move 1, 2, 4, 8 or 16 bytes at once. */
const unitNames: Readonly<Record<number, string>> = { 1: 'u8', 2: 'u16', 4: 'u32', 8: 'u64', 16: 'uint4' };

export function unitName(bytes: number): string {
  const name = unitNames[bytes];
  if (name === undefined) throw new Error(`no type moves ${bytes} bytes at once`);
  return name;
}

/** The largest power of two, at most `limit`, that divides every number. */
export function widestUnit(limit: number, numbers: readonly number[]): number {
  let unit = limit;
  while (unit > 1 && numbers.some((value) => value % unit !== 0)) unit /= 2;
  return unit;
}

/** An operand of a flat kernel: where it lies and how large its elements are. */
export interface Operand {
  readonly address: number;
  readonly dtype: DType;
}

/** Elements that one access may take of every operand: rows of `lengths` elements divide by it, addresses are aligned to it. */
export function vectorWidth(operands: readonly Operand[], lengths: readonly number[]): number {
  const widest = Math.min(8, 16 / Math.max(...operands.map(({ dtype }) => dtypeBytes(dtype))));
  let width = widestUnit(widest, lengths);
  while (width > 1 && operands.some(({ address, dtype }) => address % (width * dtypeBytes(dtype)) !== 0)) width /= 2;
  return width;
}

/** 32-bit indices where they reach: their divisions are several times faster. */
export function indexName(count: number): 'u32' | 'u64' {
  return count < 2 ** 31 ? 'u32' : 'u64';
}

/** One thread an item. */
export function flatLaunch(count: number): { readonly grid: readonly [number]; readonly block: number } {
  return { grid: [Math.ceil(count / blockThreads)], block: blockThreads };
}
