// Tensors, weights and scopes of the oracle. A tensor used after its scope ended throws, so that networks' mistakes show.
import {
  type DType,
  dtypeBytes,
  elementCount,
  type HostTensor,
  type Kept,
  ShapeError,
  type Tensor,
  type Weight,
  type WeightFormat,
  type WeightOptions,
  type WeightUse,
} from '../../../src/backend/index.js';
import { fromFloats, toFloats } from './number-formats.js';
import { quantizedFloats } from './quantization.js';

export type Shape = readonly number[];

/** Bytes shared by a tensor and its views; dead when the last of them is disposed. */
interface Storage {
  readonly buffer: ArrayBuffer;
  owners: number;
}

export class OracleTensor implements Tensor {
  #alive = true;
  constructor(
    readonly shape: Shape,
    readonly dtype: DType,
    readonly storage: Storage,
    readonly offset: number,
  ) {
    storage.owners += 1;
  }
  get bytes(): Uint8Array {
    if (!this.#alive) throw new Error(`${this.dtype} [${this.shape.join(', ')}] used after its scope ended`);
    return new Uint8Array(this.storage.buffer, this.offset, elementCount(this.shape) * dtypeBytes(this.dtype));
  }
  [Symbol.dispose](): void {
    if (this.#alive) this.storage.owners -= 1;
    this.#alive = false;
  }
}

/** Rows as float32, dequantised; merged parts lie one after the other. */
export class OracleWeight implements Weight {
  constructor(
    readonly shape: Shape,
    readonly dtype: DType,
    readonly use: WeightUse,
    readonly floats: Float32Array,
    readonly format: WeightFormat,
  ) {}
  [Symbol.dispose](): void {}
}

/** The oracle's tensor behind a contract tensor. */
export function own(x: Tensor): OracleTensor {
  if (x instanceof OracleTensor) return x;
  throw new ShapeError('oracle', 'a tensor of another device');
}

export function ownWeight(w: Weight): OracleWeight {
  if (w instanceof OracleWeight) return w;
  throw new ShapeError('oracle', 'a weight of another device');
}

/** Elements as float32; a view for float32 tensors. */
export function floatsOf(x: Tensor): Float32Array {
  return toFloats(own(x).bytes, x.dtype);
}

/** Makes tensors and remembers them until their scope ends. */
export class Tensors {
  #scope: OracleTensor[] | null = null;

  make(shape: Shape, dtype: DType): OracleTensor {
    const buffer = new ArrayBuffer(elementCount(shape) * dtypeBytes(dtype));
    return this.#track(new OracleTensor([...shape], dtype, { buffer, owners: 0 }, 0));
  }

  /** A tensor of `dtype` from numbers. */
  fill(shape: Shape, dtype: DType, values: ArrayLike<number>): OracleTensor {
    const out = this.make(shape, dtype);
    out.bytes.set(fromFloats(values, dtype));
    return out;
  }

  /** Shares the memory of `x`, starting `skip` elements in. */
  alias(x: Tensor, shape: Shape, skip: number): OracleTensor {
    const t = own(x);
    return this.#track(new OracleTensor([...shape], t.dtype, t.storage, t.offset + skip * dtypeBytes(t.dtype)));
  }

  scope<T extends Kept>(body: () => T): T {
    const outer = this.#scope;
    const made: OracleTensor[] = [];
    this.#scope = made;
    const kept = new Set<OracleTensor>();
    try {
      const result = body();
      collect(result, kept);
      return result;
    } finally {
      this.#scope = outer;
      for (const tensor of made) {
        if (!kept.has(tensor)) tensor[Symbol.dispose]();
        else outer?.push(tensor);
      }
    }
  }

  #track(tensor: OracleTensor): OracleTensor {
    this.#scope?.push(tensor);
    return tensor;
  }
}

function collect(value: Kept, into: Set<OracleTensor>): void {
  if (value instanceof OracleTensor) into.add(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, into);
  else if (value && typeof value === 'object') for (const item of Object.values(value)) collect(item, into);
}

/** Dequantises and merges stored parts along the first axis. */
export function makeWeight(
  parts: readonly HostTensor[],
  use: WeightUse,
  { format = 'dense' }: WeightOptions = {},
): OracleWeight {
  const first = parts[0];
  if (!first) throw new ShapeError('weight', 'no parts');
  const ranks: Readonly<Record<WeightUse, number>> = {
    matrix: 2,
    table: 2,
    convolution: 5,
    'transposed-convolution': 3,
  };
  const inner = first.shape.slice(1);
  let rows = 0;
  for (const { shape } of parts) {
    if (shape.length !== ranks[use] || !shape.slice(1).every((size, i) => size === inner[i]))
      throw new ShapeError('weight', `[${shape.join(', ')}] as part of a ${use} [N, ${inner.join(', ')}]`);
    rows += shape[0] ?? 0;
  }
  const floats = new Float32Array(rows * elementCount(inner));
  let at = 0;
  for (const part of parts) {
    const values = toFloats(part.bytes, part.dtype);
    floats.set(values, at);
    const place = floats.subarray(at, at + values.length);
    if (part.scale) applyScale(place, part);
    // What is stored in the format already stays as it is.
    if (format === 'fp8' && part.dtype !== 'f8e4m3') place.set(quantizedFloats(place, inner[0] ?? 1));
    at += values.length;
  }
  return new OracleWeight([rows, ...inner], first.dtype, use, floats, format);
}

function applyScale(values: Float32Array, part: HostTensor): void {
  if (!part.scale) return;
  const scale = toFloats(part.scale.bytes, part.scale.dtype);
  const rows = part.shape[0] ?? 0;
  if (scale.length !== 1 && scale.length !== rows)
    throw new ShapeError('weight', `${scale.length} scales for ${rows} rows`);
  const width = values.length / rows;
  for (let i = 0; i < values.length; i++)
    values[i] = (values[i] as number) * (scale[scale.length === 1 ? 0 : Math.floor(i / width)] as number);
}
