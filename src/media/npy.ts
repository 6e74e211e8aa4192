// Reads NumPy's .npy files: clips as arrays, actions, control maps.
import { MediaError } from './media-error.js';
import type { RgbClip } from './types.js';

interface Shaped {
  /** Row-major (C order); [] for a scalar. */
  readonly shape: readonly number[];
}

/** An array as stored; `dtype` is NumPy's spelling. */
export type NpyArray =
  | (Shaped & { readonly dtype: '|u1'; readonly data: Uint8Array })
  | (Shaped & { readonly dtype: '<f4'; readonly data: Float32Array })
  | (Shaped & { readonly dtype: '<f8'; readonly data: Float64Array })
  | (Shaped & { readonly dtype: '<i4'; readonly data: Int32Array })
  | (Shaped & { readonly dtype: '<i8'; readonly data: BigInt64Array });

/**
 * Parses a .npy file (versions 1 to 3, C order, dtypes |u1 <f4 <f8 <i4 <i8) into memory of its own; `name` is for messages.
 * Throws MediaError `unsupported_type` for other content, `truncated` if values are missing.
 */
export function readNpy(bytes: Uint8Array, name = 'array'): NpyArray {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.toString('latin1', 0, 6) !== '\x93NUMPY' || view.length < 12) {
    throw new MediaError('unsupported_type', `${name} is not a .npy file. Write it with numpy.save.`);
  }
  const wide = (view[6] as number) >= 2;
  const start = wide ? 12 : 10;
  const end = start + (wide ? view.readUInt32LE(8) : view.readUInt16LE(8));
  const { dtype, shape } = parseHeader(view.toString('latin1', start, end), name);
  const count = shape.reduce((product, length) => product * length, 1);
  const size = dtype.endsWith('1') ? 1 : dtype.endsWith('4') ? 4 : 8;
  if (end + count * size > view.length) {
    const found = Math.max(0, view.length - end);
    throw new MediaError(
      'truncated',
      `${name} holds ${found} bytes of values, its shape [${shape}] needs ${count * size}.`,
    );
  }
  // A copy, because the values' offset in the file need not be aligned.
  const data = new Uint8Array(view.subarray(end, end + count * size)).buffer;
  switch (dtype) {
    case '|u1':
      return { dtype, shape, data: new Uint8Array(data) };
    case '<f4':
      return { dtype, shape, data: new Float32Array(data) };
    case '<f8':
      return { dtype, shape, data: new Float64Array(data) };
    case '<i4':
      return { dtype, shape, data: new Int32Array(data) };
    case '<i8':
      return { dtype, shape, data: new BigInt64Array(data) };
    default:
      return dtype satisfies never;
  }
}

/**
 * A uint8 array [F, H, W, 3] or [H, W, 3] as a clip without fps; shares the array's memory.
 * Throws MediaError `unsupported_type` for any other dtype or shape.
 */
export function clipFromArray(array: NpyArray, name = 'array'): RgbClip {
  const [frames, height, width, channels] = array.shape.length === 3 ? [1, ...array.shape] : array.shape;
  if (array.dtype !== '|u1' || array.shape.length > 4 || channels !== 3 || !frames || !height || !width) {
    throw new MediaError(
      'unsupported_type',
      `${name} is ${array.dtype} [${array.shape}]; a clip is uint8 [frames, height, width, 3], a picture [height, width, 3].`,
    );
  }
  return { width, height, frames, fps: null, data: array.data };
}

function parseHeader(header: string, name: string): { dtype: NpyArray['dtype']; shape: number[] } {
  const descr = /'descr'\s*:\s*'([^']*)'/.exec(header)?.[1];
  const order = /'fortran_order'\s*:\s*(True|False)/.exec(header)?.[1];
  const shape = /'shape'\s*:\s*\(([\d\s,]*)\)/.exec(header)?.[1];
  if (order === undefined || shape === undefined || descr === undefined || !isDtype(descr)) {
    const found = descr === undefined ? 'a structured or malformed header' : `dtype ${descr}`;
    throw new MediaError('unsupported_type', `${name} has ${found}; use uint8, float32, float64, int32 or int64.`);
  }
  if (order === 'True') {
    throw new MediaError('unsupported_type', `${name} is in Fortran order. Save numpy.ascontiguousarray(x) instead.`);
  }
  return {
    dtype: descr,
    shape: shape
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean)
      .map(Number),
  };
}

function isDtype(text: string): text is NpyArray['dtype'] {
  return ['|u1', '<f4', '<f8', '<i4', '<i8'].includes(text);
}
