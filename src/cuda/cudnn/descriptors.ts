// cuDNN's descriptors: made, given attributes, finalised, and destroyed together. Everything cuDNN knows is said through them.
import {
  cudnnBackendAttributeName as attribute,
  type Cudnn,
  cudnnBackendDescriptorType as descriptor,
  cudnnBackendAttributeType as type,
} from '../ffi/cudnn.js';
import { CudaError } from '../ffi/errors.js';

/** Bytes kept of an error's words. */
const messageBytes = 2048;

/** A failed call, with cuDNN's own words. */
export function cudnnError(cudnn: Cudnn, call: string, status: number): CudaError {
  const bytes = new Uint8Array(messageBytes);
  cudnn.cudnnGetLastErrorString(bytes, bytes.length);
  const words = Buffer.from(bytes).toString('utf8').split('\0', 1)[0]?.trim() ?? '';
  return new CudaError(call, status, [cudnn.cudnnGetErrorString(status) ?? '', words].filter(Boolean).join(': '));
}

/** An operand: `uid` binds memory to it when the graph runs. Sizes and strides are elements, batch and channels first. */
export interface TensorSpec {
  readonly uid: number;
  readonly dtype: number;
  readonly sizes: readonly number[];
  readonly strides: readonly number[];
  /** Passed between operations, never stored. */
  readonly isVirtual?: boolean;
  /** A number of the host's. */
  readonly isByValue?: boolean;
}

export class Descriptors implements Disposable {
  readonly #made: number[] = [];
  readonly #out = new BigUint64Array(1);

  constructor(readonly cudnn: Cudnn) {}

  /** A new descriptor. @throws CudaError */
  make(kind: number): number {
    this.#check('cudnnBackendCreateDescriptor', this.cudnn.cudnnBackendCreateDescriptor(kind, this.#out));
    const made = Number(this.#out[0]);
    this.#made.push(made);
    return made;
  }

  set(of: number, name: number, kind: number, values: ArrayBufferView & { readonly length: number }): void {
    const code = this.cudnn.cudnnBackendSetAttribute(of, name, kind, values.length, values);
    this.#check(`cudnnBackendSetAttribute(${name})`, code);
  }

  setIntegers(of: number, name: number, values: readonly number[]): void {
    this.set(of, name, type.INT64, BigInt64Array.from(values, BigInt));
  }

  /** A value of one of cuDNN's enums. */
  setChoice(of: number, name: number, kind: number, value: number): void {
    this.set(of, name, kind, Int32Array.of(value));
  }

  link(of: number, name: number, ...others: readonly number[]): void {
    this.set(of, name, type.BACKEND_DESCRIPTOR, BigUint64Array.from(others, BigInt));
  }

  /** @throws CudaError saying what cuDNN has against it. */
  finalize(of: number): number {
    this.#check('cudnnBackendFinalize', this.cudnn.cudnnBackendFinalize(of));
    return of;
  }

  /** The first element of an integer attribute. */
  integer(of: number, name: number): number {
    const value = new BigInt64Array(1);
    this.#get(of, name, type.INT64, value);
    return Number(value[0]);
  }

  /** A text attribute. */
  text(of: number, name: number): Buffer {
    const count = new BigInt64Array(1);
    const size = this.cudnn.cudnnBackendGetAttribute(of, name, type.CHAR, 0, count, null);
    this.#check(`cudnnBackendGetAttribute(${name})`, size);
    const bytes = new Uint8Array(Number(count[0]));
    const found = this.#get(of, name, type.CHAR, bytes);
    return Buffer.from(bytes.buffer, 0, Math.min(found, bytes.length));
  }

  /** Descriptors of a kind that an attribute holds, at most `most`. */
  list(of: number, name: number, kind: number, most: number): number[] {
    const count = new BigInt64Array(1);
    const size = this.cudnn.cudnnBackendGetAttribute(of, name, type.BACKEND_DESCRIPTOR, 0, count, null);
    this.#check(`cudnnBackendGetAttribute(${name})`, size);
    const wanted = Math.min(most, Number(count[0]));
    if (wanted === 0) return [];
    const handles = BigUint64Array.from({ length: wanted }, () => BigInt(this.make(kind)));
    const found = this.#get(of, name, type.BACKEND_DESCRIPTOR, handles);
    return [...handles.subarray(0, found)].map(Number);
  }

  /** A finalised tensor. */
  tensor({ uid, dtype, sizes, strides, isVirtual = false, isByValue = false }: TensorSpec): number {
    const made = this.make(descriptor.TENSOR);
    this.setIntegers(made, attribute.TENSOR_UNIQUE_ID, [uid]);
    this.setChoice(made, attribute.TENSOR_DATA_TYPE, type.DATA_TYPE, dtype);
    this.setIntegers(made, attribute.TENSOR_DIMENSIONS, sizes);
    this.setIntegers(made, attribute.TENSOR_STRIDES, strides);
    this.setIntegers(made, attribute.TENSOR_BYTE_ALIGNMENT, [16]);
    if (isVirtual) this.set(made, attribute.TENSOR_IS_VIRTUAL, type.BOOLEAN, Uint8Array.of(1));
    if (isByValue) this.set(made, attribute.TENSOR_IS_BY_VALUE, type.BOOLEAN, Uint8Array.of(1));
    return this.finalize(made);
  }

  [Symbol.dispose](): void {
    for (const made of this.#made.reverse()) this.cudnn.cudnnBackendDestroyDescriptor(made);
    this.#made.length = 0;
  }

  #get(of: number, name: number, kind: number, into: ArrayBufferView & { readonly length: number }): number {
    const count = new BigInt64Array(1);
    const code = this.cudnn.cudnnBackendGetAttribute(of, name, kind, into.length, count, into);
    this.#check(`cudnnBackendGetAttribute(${name})`, code);
    return Number(count[0]);
  }

  #check(call: string, status: number): void {
    if (status !== 0) throw cudnnError(this.cudnn, call, status);
  }
}
