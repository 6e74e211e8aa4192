// What an op case is, and the deterministic inputs cases are made of.
import {
  type Backend,
  type DType,
  elementCount,
  type HostTensor,
  type Tensor,
  type Weight,
  type WeightFormat,
  type WeightUse,
} from '../../../src/backend/index.js';
import { fromFloats } from '../oracle/number-formats.js';

/** Row of the limit table a case is judged by. */
export type OpName =
  | 'layout'
  | 'cast'
  | 'matmul'
  | 'attention'
  | 'conv'
  | 'convTranspose'
  | 'norm'
  | 'quantize'
  | 'pointwise'
  | 'linearCombination'
  | 'rope'
  | 'embed'
  | 'toRgb8';

export interface TensorInput {
  readonly kind: 'tensor';
  /** Activations take the device's activation dtype; the rest keeps the dtype given here. */
  readonly activation: boolean;
  readonly host: (seed: string) => HostTensor;
}

export interface WeightInput {
  readonly kind: 'weight';
  readonly use: WeightUse;
  readonly format?: WeightFormat;
  readonly parts: (seed: string) => readonly HostTensor[];
}

export interface Operands {
  /** The uploaded tensor of that name. */
  t(name: string): Tensor;
  w(name: string): Weight;
}

export type Run = (b: Backend, operands: Operands) => readonly Tensor[];

export interface OpCase {
  readonly op: OpName;
  readonly name: string;
  readonly inputs: Readonly<Record<string, TensorInput | WeightInput>>;
  /** Runs the op and returns what is compared: new tensors, or the one written into. */
  readonly run: Run;
  /** The op's definition in primitive ones, for fused ops. */
  readonly composite?: Run;
  /** The weight format without which a device refuses the case. */
  readonly needs?: WeightFormat;
  /** Inputs the op writes into. */
  readonly written?: readonly string[];
}

/** Seeded uniform numbers in [-1, 1). */
export function uniform(seed: string, count: number): Float32Array {
  let state = 2166136261;
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 16777619);
  const out = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x ^= x + Math.imul(x ^ (x >>> 7), 61 | x);
    out[i] = ((x ^ (x >>> 14)) >>> 0) / 2 ** 31 - 1;
  }
  return out;
}

/** Numbers as a host tensor of any dtype. */
export function host(shape: readonly number[], dtype: DType, values: ArrayLike<number>): HostTensor {
  return { shape, dtype, bytes: fromFloats(values, dtype) };
}

function randomHost(seed: string, shape: readonly number[], dtype: DType, size: number): HostTensor {
  return host(
    shape,
    dtype,
    uniform(seed, elementCount(shape)).map((x) => x * size),
  );
}

/** Random activations in [-size, size). */
export function random(shape: readonly number[], size = 1): TensorInput {
  return { kind: 'tensor', activation: true, host: (seed) => randomHost(seed, shape, 'f32', size) };
}

/** Random elements that keep their dtype on every device: tables, norm weights of float32 ops, masks. */
export function exact(shape: readonly number[], dtype: DType = 'f32', size = 1): TensorInput {
  return { kind: 'tensor', activation: false, host: (seed) => randomHost(seed, shape, dtype, size) };
}

/** Given numbers. Activations when no dtype is named. */
export function given(shape: readonly number[], values: ArrayLike<number>, dtype?: DType): TensorInput {
  return { kind: 'tensor', activation: dtype === undefined, host: () => host(shape, dtype ?? 'f32', values) };
}

export interface PartOptions {
  readonly dtype?: DType;
  /** Dequantisation factors: one for the part, or one per row. */
  readonly scale?: 'part' | 'row';
}

/** One stored part with random elements, sized so that sums over a row stay near 1. */
export function storedPart(seed: string, shape: readonly number[], { dtype = 'f32', scale }: PartOptions): HostTensor {
  const fan = elementCount(shape.slice(1));
  const size = scale ? 1 : 1.7 / Math.sqrt(fan);
  const part = randomHost(seed, shape, dtype, size);
  if (!scale) return part;
  const factors = uniform(`${seed} scale`, scale === 'row' ? (shape[0] ?? 0) : 1);
  return {
    ...part,
    scale: host(
      [factors.length],
      'f32',
      factors.map((f) => (1.5 + f) / Math.sqrt(fan)),
    ),
  };
}

/** The same weight in another format. */
export function inFormat(format: WeightFormat, input: WeightInput): WeightInput {
  return { ...input, format };
}

/** A weight of one part. */
export function weight(use: WeightUse, shape: readonly number[], options: PartOptions = {}): WeightInput {
  return { kind: 'weight', use, parts: (seed) => [storedPart(seed, shape, options)] };
}

/** A matrix merged of parts with the given numbers of rows. */
export function merged(rows: readonly number[], k: number, options: readonly PartOptions[]): WeightInput {
  return {
    kind: 'weight',
    use: 'matrix',
    parts: (seed) => rows.map((n, i) => storedPart(`${seed}${i}`, [n, k], options[i] ?? {})),
  };
}
