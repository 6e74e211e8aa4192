// The safetensors format: u64 header length, a JSON header, then the tensors' bytes without gaps.
import { type DType, dtypeBytes, elementCount } from '../../backend/index.js';
import { CheckpointError } from '../errors.js';

/** One entry of a header, checked. */
export interface HeaderEntry {
  readonly name: string;
  /** Our element type, or undefined for one that no network uses (F64, BOOL, …). */
  readonly dtype: DType | undefined;
  /** The file's word for the element type. */
  readonly fileDtype: string;
  readonly shape: readonly number[];
  /** First byte in the file. */
  readonly offset: number;
  readonly byteLength: number;
}

/** A parsed header. */
export interface SafetensorsHeader {
  readonly metadata: Readonly<Record<string, string>>;
  readonly entries: readonly HeaderEntry[];
}

/** Longest header accepted, as in the reference reader. */
export const maxHeaderBytes = 100_000_000;

/** The file's word for each of our element types. */
export const fileDtypes: Readonly<Record<DType, string>> = {
  f32: 'F32',
  f16: 'F16',
  bf16: 'BF16',
  f8e4m3: 'F8_E4M3',
  f8e5m2: 'F8_E5M2',
  i64: 'I64',
  i32: 'I32',
  u8: 'U8',
};

const ownDtypes = new Map<string, DType>(
  Object.entries(fileDtypes).map(([dtype, word]) => [word, dtype as DType] satisfies [string, DType]),
);
const foreignBytes = new Map([
  ['BOOL', 1],
  ['I8', 1],
  ['F8_E8M0', 1],
  ['I16', 2],
  ['U16', 2],
  ['U32', 4],
  ['F64', 8],
  ['U64', 8],
  ['C64', 8],
]);

const downloadAgain = 'the file is damaged or was not downloaded completely: download it again';

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

function parseEntry(file: string, name: string, value: unknown, dataStart: number): HeaderEntry {
  const fail = (problem: string) => new CheckpointError(file, `tensor ${name}: ${problem}`, downloadAgain);
  if (!isRecord(value)) throw fail('its header entry is no object');
  const { dtype: fileDtype, shape, data_offsets: range } = value;
  if (typeof fileDtype !== 'string') throw fail('it has no dtype');
  if (!isSizes(shape)) throw fail(`shape ${JSON.stringify(shape)} is no list of sizes`);
  if (!isSizes(range) || range.length !== 2) throw fail(`data_offsets ${JSON.stringify(range)} are no two positions`);
  const [begin, end] = range as [number, number];
  const dtype = ownDtypes.get(fileDtype);
  const elementBytes = dtype === undefined ? foreignBytes.get(fileDtype) : dtypeBytes(dtype);
  if (elementBytes === undefined) throw fail(`unknown dtype ${fileDtype}`);
  const byteLength = elementCount(shape) * elementBytes;
  if (end - begin !== byteLength) {
    throw fail(`${fileDtype} [${shape.join(', ')}] takes ${byteLength} bytes, its data_offsets span ${end - begin}`);
  }
  return { name, dtype, fileDtype, shape, offset: dataStart + begin, byteLength };
}

/**
 * Checks a header against the file it came from: ranges inside the file, no overlaps, no gaps.
 * @param json the header's text · @param dataStart where tensor bytes begin · @param fileSize bytes of the whole file.
 * @throws CheckpointError naming the tensor and the sizes.
 */
export function parseHeader(file: string, json: string, dataStart: number, fileSize: number): SafetensorsHeader {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (cause) {
    throw new CheckpointError(file, 'its header is no valid JSON', downloadAgain, { cause });
  }
  if (!isRecord(parsed)) throw new CheckpointError(file, 'its header is no JSON object', downloadAgain);
  const entries: HeaderEntry[] = [];
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(parsed)) {
    if (name !== '__metadata__') entries.push(parseEntry(file, name, value, dataStart));
    else if (isRecord(value)) {
      for (const [key, text] of Object.entries(value)) metadata[key] = String(text);
    }
  }
  entries.sort((a, b) => a.offset - b.offset || a.byteLength - b.byteLength);
  let position = dataStart;
  for (const { name, offset, byteLength } of entries) {
    if (offset !== position) {
      const what = offset < position ? 'overlaps the tensor before it' : `leaves a gap of ${offset - position} bytes`;
      throw new CheckpointError(file, `tensor ${name} ${what}`, downloadAgain);
    }
    position = offset + byteLength;
  }
  if (position !== fileSize) {
    const what = position > fileSize ? 'truncated' : 'followed by bytes of no tensor';
    throw new CheckpointError(
      file,
      `${what}: its header describes ${position} bytes, it has ${fileSize}`,
      downloadAgain,
    );
  }
  return { metadata, entries };
}
