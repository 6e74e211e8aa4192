// Weights that stay in page-locked host memory: those of the group in use and of the next lie in one of two slots on the device.
// Copies run beside the main stream's work, in a captured graph too, which brings all it uses itself.
import { type Offload, ShapeError, type WeightGroup } from '../../backend/index.js';
import { blockAlignment } from '../runtime/memory/memory-pool.js';
import type { Runtime } from '../runtime/runtime.js';
import { StreamEvent } from '../runtime/stream.js';
import { CudaWeight } from './cuda-weight.js';
import { Fp8Weight } from './fp8-weight.js';
import type { WeightPlace } from './weight-place.js';

/** One array in host memory, and where it goes in a slot. */
interface HostArray {
  readonly host: number;
  readonly bytes: number;
  readonly offset: number;
}

/** A half of the device memory. */
interface Slot {
  address: number;
  group: CudaWeightGroup | null;
  /** Its copies have ended. */
  readonly ready: StreamEvent;
  /** The work that used it has been given to the main stream. */
  readonly left: StreamEvent;
  /** Both hold for this era alone. */
  isReady: boolean;
  wasLeft: boolean;
}

export class CudaWeightGroup implements WeightGroup {
  readonly #r: Runtime;
  readonly #offload: WeightOffload;
  readonly #arrays = new Set<HostArray>();
  #bytes = 0;

  constructor(r: Runtime, offload: WeightOffload) {
    this.#r = r;
    this.#offload = offload;
  }

  /** Bytes of a slot that holds the group. */
  get bytes(): number {
    return this.#bytes;
  }

  get arrays(): Iterable<HostArray> {
    return this.#arrays;
  }

  enter(next?: WeightGroup): void {
    this.#offload.enter(this, next ? ownGroup(next) : null);
  }

  /** Moves a weight out of device memory, into this group. */
  adopt(weight: CudaWeight | Fp8Weight): CudaWeight | Fp8Weight {
    const { shape } = weight;
    if (weight instanceof Fp8Weight) {
      const { values, scales } = weight.addresses;
      const [rows = 0, columns = 0] = shape;
      return new Fp8Weight(
        shape,
        this.#take(weight, [
          [values, rows * columns],
          [scales, rows * 4],
        ]),
      );
    }
    if (weight.use !== 'matrix')
      throw new ShapeError('weight', `a ${weight.use} in a group; only matrices leave the GPU`);
    return new CudaWeight(shape, weight.dtype, weight.use, this.#take(weight, [[weight.address, weight.byteLength]]));
  }

  #take(weight: Disposable, sources: readonly (readonly [address: number, bytes: number])[]): WeightPlace {
    using _ = weight;
    this.#offload.checkOpen();
    const arrays: HostArray[] = [];
    const place: WeightPlace = {
      at: (index) => this.#offload.addressOf(this) + (arrays[index]?.offset ?? 0),
      free: () => {
        this.#r.lane.settle();
        this.#r.stream.drain();
        for (const array of arrays) {
          this.#arrays.delete(array);
          this.#r.host.free(array.host);
        }
      },
    };
    try {
      for (const [address, bytes] of sources) {
        const array = { host: this.#r.host.allocate(bytes), bytes, offset: this.#bytes };
        arrays.push(array);
        this.#arrays.add(array);
        this.#bytes += Math.ceil(bytes / blockAlignment) * blockAlignment;
        this.#r.stream.copyToHost(array.host, address, bytes);
      }
    } catch (error) {
      place.free();
      throw error;
    }
    return place;
  }
}

/** @throws ShapeError for a group of another device. */
export function ownGroup(group: WeightGroup): CudaWeightGroup {
  if (group instanceof CudaWeightGroup) return group;
  throw new ShapeError('cuda', 'a weight group of another device');
}

export class WeightOffload implements Offload {
  readonly #r: Runtime;
  readonly #groups: CudaWeightGroup[] = [];
  #slots: readonly [Slot, Slot] | null = null;
  #entered: Slot | null = null;
  #era = -1;
  #isRecorded = false;

  constructor(r: Runtime) {
    this.#r = r;
  }

  group(): CudaWeightGroup {
    const group = new CudaWeightGroup(this.#r, this);
    this.#groups.push(group);
    return group;
  }

  /** @throws Error where slots have been measured out: a group that grows would not fit. */
  checkOpen(): void {
    if (this.#slots) throw new Error('a weight was added to a group after the first group had been entered');
  }

  /** Device address of a group's slot. @throws Error where it is not the one entered last */
  addressOf(group: CudaWeightGroup): number {
    this.#renew();
    if (this.#entered?.group !== group)
      throw new Error('an offloaded weight was used without its group having been entered');
    return this.#entered.address;
  }

  enter(group: CudaWeightGroup, next: CudaWeightGroup | null): void {
    const { stream, lane } = this.#r;
    this.#isRecorded ||= stream.isCapturing;
    this.#slots ??= this.#makeSlots();
    this.#renew();
    const [one, other] = this.#slots;
    const present = this.#slots.find((each) => each.group === group);
    const slot = present ?? this.#bring(group, this.#entered === one ? other : one);
    const rest = slot === one ? other : one;
    if (this.#entered === rest) {
      stream.record(rest.left);
      rest.wasLeft = true;
    }
    this.#entered = slot;
    if (!slot.isReady) lane.join(slot.ready);
    slot.isReady = true;
    if (next && next !== group && rest.group !== next) this.#bring(next, rest);
  }

  release(): void {
    if (!this.#slots || (this.#isRecorded && this.#r.holdsGraphs)) return;
    this.#r.lane.settle();
    for (const { address, ready, left } of this.#slots) {
      this.#r.pool.free(address);
      for (const event of [ready, left]) event[Symbol.dispose]();
    }
    this.#slots = null;
    this.#entered = null;
    this.#isRecorded = false;
  }

  [Symbol.dispose](): void {
    this.#isRecorded = false;
    this.release();
  }

  #bring(group: CudaWeightGroup, slot: Slot): Slot {
    const { lane } = this.#r;
    if (slot.wasLeft) lane.followFrom(slot.left);
    else lane.follow();
    for (const { host, bytes, offset } of group.arrays) lane.copyToDevice(slot.address + offset, host, bytes);
    lane.end(slot.ready);
    slot.group = group;
    slot.isReady = false;
    return slot;
  }

  #makeSlots(): readonly [Slot, Slot] {
    const bytes = Math.max(0, ...this.#groups.map((group) => group.bytes));
    const { pool, device } = this.#r;
    const make = (): Slot => ({
      address: pool.allocate(bytes),
      group: null,
      ready: new StreamEvent(device),
      left: new StreamEvent(device),
      isReady: false,
      wasLeft: false,
    });
    const first = make();
    try {
      return [first, make()];
    } catch (error) {
      pool.free(first.address);
      throw error;
    }
  }

  /** Forgets what slots hold where a graph has run, or is recorded, since. */
  #renew(): void {
    const { era } = this.#r.stream;
    if (era === this.#era || !this.#slots) return;
    this.#era = era;
    this.#entered = null;
    for (const slot of this.#slots) {
      slot.group = null;
      slot.wasLeft = false;
    }
  }
}
