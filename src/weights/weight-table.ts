// All weights of one part by name, wherever they lie: the layer under `WeightReader`, and the place where stored weights are altered.
import type { DType, HostTensor } from '../backend/index.js';
import { WeightError } from './errors.js';
import { decodeFloat32, fromFloat32 } from './floats.js';
import type { FileTensor } from './safetensors/open-safetensors.js';

/** A weight as it is stored. FP8 matrices carry their scale: float32, `[1]` or one per row. */
export interface StoredWeight extends HostTensor {
  readonly name: string;
  readonly scale?: StoredWeight;
}

/** What is known of a weight without reading it. */
export interface WeightInfo {
  readonly name: string;
  /** Undefined for element types that no network uses. */
  readonly dtype: DType | undefined;
  /** The file's word for the element type. */
  readonly fileDtype: string;
  readonly shape: readonly number[];
  readonly byteLength: number;
  /** The file it comes from. */
  readonly file: string;
}

/** Named weights. `load` may be called again and gives the same values. */
export interface WeightTable {
  /** What errors call the place these weights come from. */
  readonly origin: string;
  readonly names: readonly string[];
  info(name: string): WeightInfo | undefined;
  /** @throws WeightError for a name it does not have or an element type that cannot be used. */
  load(name: string): StoredWeight;
}

/** The name of the tensor that holds an FP8 weight's scale. */
export function scaleName(name: string): string {
  return `${name}_scale`;
}

/** A table over tensors of files, under the names given as keys. */
export function tabulate(origin: string, tensors: ReadonlyMap<string, FileTensor>): WeightTable {
  return {
    origin,
    names: [...tensors.keys()],
    info(name) {
      const tensor = tensors.get(name);
      return tensor === undefined ? undefined : { ...tensor, name };
    },
    load(name) {
      const tensor = tensors.get(name);
      if (tensor === undefined) throw new WeightError(name, 'a tensor of this name', `none in ${origin}`);
      const { dtype, shape, address, fileDtype } = tensor;
      if (dtype === undefined)
        throw new WeightError(name, 'a dtype that networks use', `${fileDtype} in ${tensor.file}`);
      const isFp8 = dtype === 'f8e4m3' || dtype === 'f8e5m2';
      const scale = isFp8 ? tensors.get(scaleName(name)) : undefined;
      let bytes: Uint8Array | undefined;
      return {
        name,
        dtype,
        shape,
        // Made once, on first use: where nothing is mapped this reads the file.
        get bytes() {
          bytes ??= tensor.bytes();
          return bytes;
        },
        ...(address === undefined ? {} : { address }),
        ...(scale === undefined ? {} : { scale: loadScale(name, shape[0] ?? 1, scale) }),
      };
    },
  };
}

function loadScale(weight: string, rows: number, tensor: FileTensor): StoredWeight {
  const name = scaleName(weight);
  const { dtype, shape, fileDtype } = tensor;
  const count = shape.reduce((product, size) => product * size, 1);
  const isFloat = dtype === 'f32' || dtype === 'bf16' || dtype === 'f16';
  if (!isFloat || (count !== 1 && count !== rows)) {
    throw new WeightError(name, `F32 [1] or [${rows}]`, `${fileDtype} [${shape.join(', ')}] in ${tensor.file}`);
  }
  return { name, dtype: 'f32', shape: [count], bytes: fromFloat32(decodeFloat32(tensor.bytes(), dtype), 'f32') };
}
