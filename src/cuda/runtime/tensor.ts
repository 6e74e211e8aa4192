// Tensors of a GPU and the scopes that free them.
import { type DType, dtypeBytes, elementCount, type Kept, ShapeError, type Tensor } from '../../backend/index.js';
import type { DeviceMemory } from './memory/guarded-memory.js';

type Shape = readonly number[];

/** A block of memory shared by a tensor and its views; freed with the last of them. */
interface Storage {
  readonly address: number;
  readonly memory: DeviceMemory;
  owners: number;
}

export class CudaTensor implements Tensor {
  #alive = true;
  readonly #storage: Storage;
  readonly #offset: number;

  constructor(
    readonly shape: Shape,
    readonly dtype: DType,
    storage: Storage,
    offset: number,
  ) {
    this.#storage = storage;
    this.#offset = offset;
    storage.owners += 1;
  }

  /** Where the elements lie on the device. @throws Error after the tensor was freed. */
  get address(): number {
    if (!this.#alive) throw new Error(`${this.dtype} [${this.shape.join(', ')}] used after its scope ended`);
    return this.#storage.address + this.#offset;
  }

  get count(): number {
    return elementCount(this.shape);
  }

  get byteLength(): number {
    return this.count * dtypeBytes(this.dtype);
  }

  /** Another tensor on the same memory, `skip` elements in. */
  alias(shape: Shape, skip: number): CudaTensor {
    const offset = this.address - this.#storage.address + skip * dtypeBytes(this.dtype);
    return new CudaTensor([...shape], this.dtype, this.#storage, offset);
  }

  [Symbol.dispose](): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#storage.owners -= 1;
    if (this.#storage.owners === 0) this.#storage.memory.free(this.#storage.address);
  }
}

/** The GPU tensor behind a contract tensor. @throws ShapeError for one of another device. */
export function own(x: Tensor): CudaTensor {
  if (x instanceof CudaTensor) return x;
  throw new ShapeError('cuda', 'a tensor of another device');
}

const borrowed: DeviceMemory = {
  allocate: () => 0,
  free: () => {},
};

/** Makes tensors and remembers them until the scope they were made in ends. */
export class TensorScopes {
  #memory: DeviceMemory;
  #current: CudaTensor[] | null = null;

  constructor(memory: DeviceMemory) {
    this.#memory = memory;
  }

  /** A tensor with undefined contents. @throws OutOfMemoryError */
  make(shape: Shape, dtype: DType): CudaTensor {
    return this.makeIn(this.#memory, shape, dtype);
  }

  /** The same in a memory of the caller's choice. */
  makeIn(memory: DeviceMemory, shape: Shape, dtype: DType): CudaTensor {
    const address = memory.allocate(elementCount(shape) * dtypeBytes(dtype));
    return this.track(new CudaTensor([...shape], dtype, { address, memory, owners: 0 }, 0));
  }

  /** A tensor on memory that somebody else owns. */
  borrow(address: number, shape: Shape, dtype: DType): CudaTensor {
    return new CudaTensor([...shape], dtype, { address, memory: borrowed, owners: 0 }, 0);
  }

  track(tensor: CudaTensor): CudaTensor {
    this.#current?.push(tensor);
    return tensor;
  }

  /** Runs `body` with its tensors made in another memory. */
  within<T>(memory: DeviceMemory, body: () => T): T {
    const outer = this.#memory;
    this.#memory = memory;
    try {
      return body();
    } finally {
      this.#memory = outer;
    }
  }

  /** Runs `body` and frees every tensor made in it but those it returns. */
  run<T extends Kept>(body: () => T): T {
    const outer = this.#current;
    const made: CudaTensor[] = [];
    this.#current = made;
    const kept = new Set<CudaTensor>();
    try {
      const result = body();
      collect(result, kept);
      return result;
    } finally {
      this.#current = outer;
      for (const tensor of made) {
        if (!kept.has(tensor)) tensor[Symbol.dispose]();
        else outer?.push(tensor);
      }
    }
  }
}

function collect(value: Kept, into: Set<CudaTensor>): void {
  if (value instanceof CudaTensor) into.add(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, into);
  else if (value && typeof value === 'object') for (const item of Object.values(value)) collect(item, into);
}
