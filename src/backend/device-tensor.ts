// Tensors as devices with addresses make them, and the scopes that free them. Devices differ only in where blocks come from.
import type { Kept, Tensor } from './backend.js';
import { type DType, dtypeBytes, elementCount } from './dtype.js';
import { ShapeError } from './errors.js';

type Shape = readonly number[];

/** Where tensors get their blocks. */
export interface BlockMemory {
  /** An address of `bytes` bytes with undefined contents. @throws OutOfMemoryError */
  allocate(bytes: number): number;
  free(address: number): void;
}

/** A block of memory shared by a tensor and its views; freed with the last of them. */
interface Block {
  readonly address: number;
  readonly memory: BlockMemory;
  owners: number;
}

/** A tensor in a memory with addresses. */
export class DeviceTensor implements Tensor {
  #alive = true;
  readonly #block: Block;
  readonly #offset: number;

  /**
   * @param device whose tensor it is, such as `cpu`
   * @param offset bytes from the block's start to the first element
   */
  constructor(
    readonly device: string,
    readonly shape: Shape,
    readonly dtype: DType,
    block: Block,
    offset: number,
  ) {
    this.#block = block;
    this.#offset = offset;
    block.owners += 1;
  }

  /** Where the elements lie. @throws Error after the tensor was freed. */
  get address(): number {
    if (!this.#alive) throw new Error(`${this.dtype} [${this.shape.join(', ')}] used after its scope ended`);
    return this.#block.address + this.#offset;
  }

  get count(): number {
    return elementCount(this.shape);
  }

  get byteLength(): number {
    return this.count * dtypeBytes(this.dtype);
  }

  /** Another tensor on the same memory, `skip` elements in. */
  alias(shape: Shape, skip: number): DeviceTensor {
    const offset = this.address - this.#block.address + skip * dtypeBytes(this.dtype);
    return new DeviceTensor(this.device, [...shape], this.dtype, this.#block, offset);
  }

  [Symbol.dispose](): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#block.owners -= 1;
    if (this.#block.owners === 0) this.#block.memory.free(this.#block.address);
  }
}

/** The tensor of a device behind a contract tensor. @throws ShapeError for one of another device. */
export function ownTensor(device: string, x: Tensor): DeviceTensor {
  if (x instanceof DeviceTensor && x.device === device) return x;
  throw new ShapeError(device, 'a tensor of another device');
}

const borrowed: BlockMemory = {
  allocate: () => 0,
  free: () => {},
};

/** Makes the tensors of a device and remembers them until the scope they were made in ends. */
export class TensorScopes {
  readonly #device: string;
  #memory: BlockMemory;
  #current: DeviceTensor[] | null = null;

  constructor(device: string, memory: BlockMemory) {
    this.#device = device;
    this.#memory = memory;
  }

  /** A tensor with undefined contents. @throws OutOfMemoryError */
  make(shape: Shape, dtype: DType): DeviceTensor {
    return this.makeIn(this.#memory, shape, dtype);
  }

  /** The same in a memory of the caller's choice. */
  makeIn(memory: BlockMemory, shape: Shape, dtype: DType): DeviceTensor {
    const address = memory.allocate(elementCount(shape) * dtypeBytes(dtype));
    return this.track(new DeviceTensor(this.#device, [...shape], dtype, { address, memory, owners: 0 }, 0));
  }

  /** A tensor on memory that somebody else owns. */
  borrow(address: number, shape: Shape, dtype: DType): DeviceTensor {
    return new DeviceTensor(this.#device, [...shape], dtype, { address, memory: borrowed, owners: 0 }, 0);
  }

  /** Lets a tensor end with the present scope. */
  track(tensor: DeviceTensor): DeviceTensor {
    this.#current?.push(tensor);
    return tensor;
  }

  /** Runs `body` with its tensors made in another memory. */
  within<T>(memory: BlockMemory, body: () => T): T {
    const outer = this.#memory;
    this.#memory = memory;
    try {
      return body();
    } finally {
      this.#memory = outer;
    }
  }

  /** Runs `body` and frees every tensor made in it but those it returns, which go to the scope around it. */
  run<T extends Kept>(body: () => T): T {
    const outer = this.#current;
    const made: DeviceTensor[] = [];
    this.#current = made;
    const kept = new Set<DeviceTensor>();
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

function collect(value: Kept, into: Set<DeviceTensor>): void {
  if (value instanceof DeviceTensor) into.add(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, into);
  else if (value && typeof value === 'object') for (const item of Object.values(value)) collect(item, into);
}
