// MessagePack with numpy arrays, as OpenPI's clients speak it, and as msgpack-numpy does. Arrays are maps with marker keys:
// OpenPI's `__ndarray__ data dtype shape`, the older `nd type kind shape data`; keys of maps with markers are binary.
import { Packr, Unpackr } from 'msgpackr';
import { elementBytes, NdArray, sizeOf } from './nd-array.js';

/** Which markers a peer uses: it is answered in the same. */
export type ArrayForm = 'openpi' | 'nd';

/** A message and the form of the arrays in it. */
export interface Unpacked {
  readonly value: unknown;
  readonly form: ArrayForm;
}

/** Bytes that are no message, or hold arrays that are not taken. */
export class MessageError extends Error {
  override readonly name = 'MessageError';
}

const deepest = 16;

/**
 * Reads a message: maps become objects, arrays `NdArray`, numpy scalars numbers.
 * @throws MessageError for bytes that are none, and for arrays of objects, structures or complex numbers
 */
export function unpackMessage(bytes: Uint8Array): Unpacked {
  const unpackr = new Unpackr({ mapsAsObjects: false, useRecords: false, int64AsType: 'number' });
  const forms = new Set<ArrayForm>();
  let raw: unknown;
  try {
    raw = unpackr.unpack(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    throw new MessageError(error instanceof Error ? error.message : String(error));
  }
  const value = readValue(raw, forms, 0);
  return { value, form: forms.has('nd') && !forms.has('openpi') ? 'nd' : 'openpi' };
}

function readValue(value: unknown, forms: Set<ArrayForm>, depth: number): unknown {
  if (depth > deepest) throw new MessageError(`nested deeper than ${deepest} levels`);
  if (Array.isArray(value)) return value.map((item: unknown) => readValue(item, forms, depth + 1));
  if (!(value instanceof Map)) return value;
  const members = new Map<string, unknown>();
  for (const [key, member] of value) {
    const name = key instanceof Uint8Array ? Buffer.from(key).toString('utf8') : typeof key === 'string' ? key : null;
    if (name === null) throw new MessageError('keys must be text');
    if (name !== '__proto__') members.set(name, member);
  }
  if (members.get('__ndarray__') === true || members.get('__npgeneric__') === true) {
    forms.add('openpi');
    const isArray = members.get('__ndarray__') === true;
    return readArray(members, 'dtype', isArray ? members.get('shape') : []);
  }
  if (members.has('nd') && members.has('data')) {
    forms.add('nd');
    if (textOf(members.get('kind')) === 'V') throw new MessageError('structured arrays are not taken');
    if (members.get('nd') === true) return readArray(members, 'type', members.get('shape'));
    return readArray(members, 'type', []);
  }
  return Object.fromEntries([...members].map(([name, member]) => [name, readValue(member, forms, depth + 1)]));
}

function readArray(members: ReadonlyMap<string, unknown>, typeKey: string, shape: unknown): unknown {
  const dtype = textOf(members.get(typeKey));
  const data = members.get('data');
  const bytes = dtype === null ? null : elementBytes(dtype);
  if (dtype === null || bytes === null) throw new MessageError(`arrays of ${dtype ?? 'unknown type'} are not taken`);
  const isSide = (side: unknown): side is number => typeof side === 'number' && Number.isInteger(side) && side >= 0;
  if (!Array.isArray(shape) || !shape.every(isSide) || shape.length > 8)
    throw new MessageError('an array has no shape');
  if (!(data instanceof Uint8Array) || data.length !== sizeOf(shape) * bytes) {
    throw new MessageError('the data of an array do not fit its shape');
  }
  const array = new NdArray(dtype, shape, data);
  return shape.length === 0 ? scalarOf(array, bytes) : array;
}

function scalarOf({ dtype, data }: NdArray, bytes: number): number | boolean {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const little = !dtype.startsWith('>');
  const kind = dtype.slice(1, 2);
  if (kind === 'b') return view.getUint8(0) !== 0;
  if (kind === 'f')
    return bytes === 8 ? view.getFloat64(0, little) : bytes === 4 ? view.getFloat32(0, little) : Number.NaN;
  const isSigned = kind === 'i';
  if (bytes === 8) return Number(isSigned ? view.getBigInt64(0, little) : view.getBigUint64(0, little));
  if (bytes === 4) return isSigned ? view.getInt32(0, little) : view.getUint32(0, little);
  if (bytes === 2) return isSigned ? view.getInt16(0, little) : view.getUint16(0, little);
  return isSigned ? view.getInt8(0) : view.getUint8(0);
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : null;
}

/** Writes a message as the peer's library would, byte for byte. Objects become maps with text keys. */
export function packMessage(value: unknown, form: ArrayForm): Buffer {
  return new Packr({ useRecords: false, moreTypes: false, structuredClone: false, variableMapSize: true }).pack(
    toMaps(value, form),
  );
}

function toMaps(value: unknown, form: ArrayForm): unknown {
  if (value instanceof NdArray) return arrayMap(value, form);
  if (value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => toMaps(item, form));
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([name, member]) => [name, toMaps(member, form)]));
}

/** Order and types of the members are those of the Python libraries. */
function arrayMap({ dtype, shape, data }: NdArray, form: ArrayForm): Map<Buffer, unknown> {
  const key = (name: string) => Buffer.from(name, 'latin1');
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (form === 'nd') {
    return new Map<Buffer, unknown>([
      [key('nd'), true],
      [key('type'), dtype],
      [key('kind'), key('')],
      [key('shape'), shape],
      [key('data'), bytes],
    ]);
  }
  return new Map<Buffer, unknown>([
    [key('__ndarray__'), true],
    [key('data'), bytes],
    [key('dtype'), dtype],
    [key('shape'), shape],
  ]);
}
