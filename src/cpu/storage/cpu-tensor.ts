// Tensors of the CPU device and the scopes that free them.
import { type DType, dtypeBytes, elementCount, type Kept, ShapeError, type Tensor } from '../../backend/index.js';
import type { DeviceMemory } from './device-memory.js';

type Shape = readonly number[];

/** A block of memory shared by a tensor and its views; freed with the last of them. */
interface Block {
  readonly address: number;
  owners: number;
}

export class CpuTensor implements Tensor {
  #alive = true;
  readonly #memory: DeviceMemory;
  readonly #block: Block;
  readonly #offset: number;

  constructor(
    readonly shape: Shape,
    readonly dtype: DType,
    memory: DeviceMemory,
    block: Block,
    offset: number,
  ) {
    this.#memory = memory;
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
  alias(shape: Shape, skip: number): CpuTensor {
    const offset = this.address - this.#block.address + skip * dtypeBytes(this.dtype);
    return new CpuTensor([...shape], this.dtype, this.#memory, this.#block, offset);
  }

  [Symbol.dispose](): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#block.owners -= 1;
    if (this.#block.owners === 0) this.#memory.free(this.#block.address);
  }
}

/** The CPU tensor behind a contract tensor. @throws ShapeError for one of another device. */
export function own(x: Tensor): CpuTensor {
  if (x instanceof CpuTensor) return x;
  throw new ShapeError('cpu', 'a tensor of another device');
}

/** Makes tensors and remembers them until the scope they were made in ends. */
export class TensorScopes {
  #current: CpuTensor[] | null = null;

  /** @param reclaim called when memory runs short; frees what can be made again. */
  constructor(
    readonly memory: DeviceMemory,
    readonly reclaim: () => void,
  ) {}

  /** A tensor with undefined contents. @throws OutOfMemoryError */
  make(shape: Shape, dtype: DType): CpuTensor {
    const bytes = elementCount(shape) * dtypeBytes(dtype);
    if (!this.memory.fits(bytes)) this.reclaim();
    const block: Block = { address: this.memory.allocate(bytes), owners: 0 };
    return this.track(new CpuTensor([...shape], dtype, this.memory, block, 0));
  }

  track(tensor: CpuTensor): CpuTensor {
    this.#current?.push(tensor);
    return tensor;
  }

  run<T extends Kept>(body: () => T): T {
    const outer = this.#current;
    const made: CpuTensor[] = [];
    this.#current = made;
    const kept = new Set<CpuTensor>();
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

function collect(value: Kept, into: Set<CpuTensor>): void {
  if (value instanceof CpuTensor) into.add(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, into);
  else if (value && typeof value === 'object') for (const item of Object.values(value)) collect(item, into);
}
