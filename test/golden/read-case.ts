// Reads golden cases: the tensors of test/golden/data/cases/NAME.safetensors and the requests of cases.json.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folder of the unpacked golden data: `cases.json`, `cases/`, `media/`, `tiny-nano/`, `tiny-edge/`. */
export const goldenFolder = fileURLToPath(new URL('./data', import.meta.url));

/** Shared part of every golden tensor: row-major shape, `[]` for a scalar. */
interface Shaped {
  readonly shape: readonly number[];
}
export type FloatTensor = Shaped & { readonly dtype: 'F32'; readonly data: Float32Array };
export type DoubleTensor = Shaped & { readonly dtype: 'F64'; readonly data: Float64Array };
export type HalfTensor = Shaped & { readonly dtype: 'F16' | 'BF16'; readonly data: Uint16Array };
export type LongTensor = Shaped & { readonly dtype: 'I64'; readonly data: BigInt64Array };
export type IntTensor = Shaped & { readonly dtype: 'I32'; readonly data: Int32Array };
export type ByteTensor = Shaped & { readonly dtype: 'U8' | 'BOOL'; readonly data: Uint8Array };
export type GoldenTensor = FloatTensor | DoubleTensor | HalfTensor | LongTensor | IntTensor | ByteTensor;

/** The tensors of one file; every getter throws an Error naming the case and key when the tensor is absent or of another dtype. */
export class GoldenCase {
  readonly tensors: ReadonlyMap<string, GoldenTensor>;

  constructor(
    readonly name: string,
    tensors: ReadonlyMap<string, GoldenTensor>,
  ) {
    this.tensors = tensors;
  }

  /** Names in alphabetical order; with `prefix`, only those that start with it. */
  keys(prefix = ''): string[] {
    return [...this.tensors.keys()].filter((key) => key.startsWith(prefix)).sort();
  }

  has(key: string): boolean {
    return this.tensors.has(key);
  }

  get(key: string): GoldenTensor {
    const tensor = this.tensors.get(key);
    if (!tensor) throw new Error(`golden case ${this.name} has no tensor "${key}"; it has: ${this.keys().join(', ')}`);
    return tensor;
  }

  /** Shape of a tensor. */
  shape(key: string): readonly number[] {
    return this.get(key).shape;
  }

  /** A float32 tensor's values. */
  floats(key: string): Float32Array {
    const tensor = this.get(key);
    if (tensor.dtype !== 'F32') throw new Error(`${this.name} ${key} is ${tensor.dtype}, not F32`);
    return tensor.data;
  }

  /** An 8-bit tensor's values. */
  bytes(key: string): Uint8Array {
    const tensor = this.get(key);
    if (tensor.dtype !== 'U8' && tensor.dtype !== 'BOOL')
      throw new Error(`${this.name} ${key} is ${tensor.dtype}, not U8`);
    return tensor.data;
  }

  /** An integer tensor's values (int64 or int32) as plain numbers. */
  integers(key: string): number[] {
    const tensor = this.get(key);
    if (tensor.dtype !== 'I64' && tensor.dtype !== 'I32')
      throw new Error(`${this.name} ${key} is ${tensor.dtype}, not I64`);
    return Array.from<number | bigint, number>(tensor.data, Number);
  }
}

/** Reads `cases/NAME.safetensors` whole into typed arrays of their own memory. */
export function readCase(name: string): GoldenCase {
  return new GoldenCase(name, readTensors(`${goldenFolder}/cases/${name}.safetensors`));
}

/** Reads any safetensors file whole; for tests, where size does not matter. */
export function readTensors(path: string): Map<string, GoldenTensor> {
  const file = readFileSync(path);
  const headerLength = Number(file.readBigUInt64LE(0));
  const header: unknown = JSON.parse(file.toString('utf8', 8, 8 + headerLength));
  const tensors = new Map<string, GoldenTensor>();
  if (!isRecord(header)) throw new Error(`${path}: the header is not an object`);
  for (const [key, entry] of Object.entries(header)) {
    if (key === '__metadata__') continue;
    if (!isEntry(entry)) throw new Error(`${path}: ${key} has a malformed header entry`);
    const [begin, end] = entry.data_offsets;
    // A copy, because the data's offset in the file need not be aligned.
    const bytes = new Uint8Array(file.subarray(8 + headerLength + begin, 8 + headerLength + end)).buffer;
    tensors.set(key, toTensor(path, key, entry, bytes));
  }
  return tensors;
}

function toTensor(path: string, key: string, { dtype, shape }: Entry, bytes: ArrayBuffer): GoldenTensor {
  switch (dtype) {
    case 'F32':
      return { dtype, shape, data: new Float32Array(bytes) };
    case 'F64':
      return { dtype, shape, data: new Float64Array(bytes) };
    case 'F16':
    case 'BF16':
      return { dtype, shape, data: new Uint16Array(bytes) };
    case 'I64':
      return { dtype, shape, data: new BigInt64Array(bytes) };
    case 'I32':
      return { dtype, shape, data: new Int32Array(bytes) };
    case 'U8':
    case 'BOOL':
      return { dtype, shape, data: new Uint8Array(bytes) };
    default:
      throw new Error(`${path}: ${key} has the unknown dtype ${dtype}`);
  }
}

/** What cases.json says of a case; `scheduler` is the scheduler's configuration, `request` the reference's call arguments. */
export interface CaseInfo {
  readonly note: string;
  readonly checkpoint: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly scheduler: Readonly<Record<string, unknown>>;
  readonly use_native_flow_schedule: boolean;
  readonly calls: number;
  /** The prompt as tokenised, framing tokens included. */
  readonly cond_text: string;
  /** Absent for transfer and distilled. */
  readonly seed?: number;
  readonly distilled_sigmas?: readonly number[];
}

/** The whole of cases.json, parsed; keys that start with `_` are not cases. */
export function readCases(): Readonly<Record<string, unknown>> {
  const cases: unknown = JSON.parse(readFileSync(`${goldenFolder}/cases.json`, 'utf8'));
  if (!isRecord(cases)) throw new Error('cases.json is not an object');
  return cases;
}

/** Names of all cases in cases.json, in file order. */
export function caseNames(): string[] {
  return Object.keys(readCases()).filter((name) => !name.startsWith('_'));
}

/** One case's entry in cases.json. */
export function caseInfo(name: string): CaseInfo {
  const entry = readCases()[name];
  if (!isCaseInfo(entry)) throw new Error(`cases.json has no case "${name}"; it has: ${caseNames().join(', ')}`);
  return entry;
}

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEntry(value: unknown): value is Entry {
  return (
    isRecord(value) &&
    typeof value.dtype === 'string' &&
    Array.isArray(value.shape) &&
    Array.isArray(value.data_offsets)
  );
}

function isCaseInfo(value: unknown): value is CaseInfo {
  return isRecord(value) && isRecord(value.request) && isRecord(value.scheduler) && typeof value.cond_text === 'string';
}
