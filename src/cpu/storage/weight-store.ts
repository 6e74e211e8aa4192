// Packs weights for products: whole into a bounded cache, or row by row range through a staging buffer when they are too large.
import { dtypeBytes, elementCount, type HostTensor } from '../../backend/index.js';
import type { Pool } from '../threads/pool.js';
import { packTiles } from '../tiles/matmul.js';
import { type CpuWeight, floatNumbers, type Packed, rowScales } from './cpu-weight.js';
import type { DeviceMemory } from './device-memory.js';

/** Stored bytes copied at once: large enough for many tiles, small enough to stay in a cache. */
const stagingBytes = 8 << 20;

/** How stored rows are read: `n` rows of `[c, taps]` elements, in groups of `groupRows`. */
export interface PackShape {
  readonly rows: number;
  readonly c: number;
  readonly taps: number;
  readonly groups: number;
}

/** Packed bytes of rows. */
function packedBytes(shape: PackShape, rows: number, layout: 'panels' | 'rows'): number {
  const { c, taps, groups } = shape;
  const perGroup = rows / groups;
  const padded = layout === 'rows' ? perGroup : Math.ceil(perGroup / 8) * 8;
  return groups * padded * c * taps * 4;
}

export class WeightStore {
  readonly #memory: DeviceMemory;
  readonly #pool: Pool;
  readonly #budget: number;
  readonly #kept = new Set<CpuWeight>();
  #staging: { readonly address: number; readonly bytes: number } | null = null;
  #scales: { readonly address: number; readonly rows: number } | null = null;
  #bytes = 0;

  /** @param budget bytes of packed weights that may stay. */
  constructor(memory: DeviceMemory, pool: Pool, budget: number) {
    this.#memory = memory;
    this.#pool = pool;
    this.#budget = budget;
  }

  /** Bytes from one group's packed rows to the next. */
  groupBytes(shape: PackShape): number {
    return packedBytes(shape, shape.rows, this.#pool.thread.products.layout) / shape.groups;
  }

  /**
   * Calls `use` with the address of packed rows `n0..n1`: once for all rows when they fit, else range by range.
   * `atOnce`: the caller needs all rows together.
   */
  withPacked(
    weight: CpuWeight,
    shape: PackShape,
    use: (address: number, n0: number, n1: number) => void,
    atOnce = false,
  ): void {
    const { packed } = weight;
    if (packed && packed.groups === shape.groups) {
      use(packed.address, 0, shape.rows);
      return;
    }
    const layout = this.#pool.thread.products.layout;
    const bytes = packedBytes(shape, shape.rows, layout);
    if (packed) this.release(weight);
    if (this.#bytes + bytes <= this.#budget && this.#memory.fits(bytes)) {
      const kept: Packed = { address: this.#memory.allocate(bytes), bytes, groups: shape.groups };
      this.#pack(weight, shape, kept.address, 0, shape.rows);
      weight.packed = kept;
      this.#kept.add(weight);
      this.#bytes += bytes;
      use(kept.address, 0, shape.rows);
      return;
    }
    const step = atOnce ? shape.rows : Math.max(256, Math.floor(stagingBytes / (shape.c * shape.taps * 4) / 256) * 256);
    const range = this.#allocate(packedBytes(shape, Math.min(step, shape.rows), layout));
    try {
      for (let n0 = 0; n0 < shape.rows; n0 += step) {
        const n1 = Math.min(shape.rows, n0 + step);
        this.#pack(weight, shape, range, n0, n1);
        use(range, n0, n1);
      }
    } finally {
      this.#memory.free(range);
    }
  }

  /** Copies stored rows `ids` of a matrix or table, as float32, to `to`. */
  gather(weight: CpuWeight, ids: Int32Array, to: number): void {
    const width = weight.shape[1] ?? 0;
    const { kernels } = this.#pool.thread;
    ids.forEach((id, i) => {
      const { part, row } = findRow(weight, id);
      const bytes = width * dtypeBytes(part.dtype);
      const { address } = this.#stage(bytes);
      this.#memory.bytes(address, bytes).set(part.bytes.subarray(row * bytes, (row + 1) * bytes));
      const scale = rowScales(part, row, row + 1)?.[0] ?? 1;
      kernels.widen(to + i * width * 4, address, width, floatNumbers[part.dtype] ?? 0, scale);
    });
  }

  release(weight: CpuWeight): void {
    if (!this.#kept.delete(weight) || !weight.packed) return;
    this.#memory.free(weight.packed.address);
    this.#bytes -= weight.packed.bytes;
    weight.packed = null;
  }

  /** Gives back all that can be made again. Not to be called while weights are being packed. */
  reclaim(): void {
    this.#releaseAll();
    for (const kept of [this.#staging, this.#scales]) if (kept) this.#memory.free(kept.address);
    this.#staging = null;
    this.#scales = null;
  }

  #releaseAll(): void {
    for (const weight of [...this.#kept]) this.release(weight);
  }

  #pack(weight: CpuWeight, shape: PackShape, to: number, n0: number, n1: number): void {
    const layout = this.#pool.thread.products.layout;
    const groupRows = shape.groups === 1 ? n1 - n0 : shape.rows / shape.groups;
    if (layout === 'panels' && groupRows % 8 !== 0)
      this.#memory.bytes(to, packedBytes({ ...shape, rows: n1 - n0 }, n1 - n0, layout)).fill(0);
    const parts = weight.use === 'transposed-convolution' ? [this.#turn(weight)] : weight.parts;
    let start = 0;
    for (const part of parts) {
      const end = start + (part.shape[0] ?? 0);
      this.#packPart(part, shape, { to, base: n0, start, groupRows }, Math.max(n0, start), Math.min(n1, end));
      start = end;
    }
  }

  #packPart(
    part: HostTensor,
    { c, taps }: PackShape,
    place: { readonly to: number; readonly base: number; readonly start: number; readonly groupRows: number },
    from: number,
    end: number,
  ): void {
    const elementBytes = dtypeBytes(part.dtype);
    const rowBytes = c * taps * elementBytes;
    const step = Math.max(8, Math.floor(stagingBytes / Math.max(rowBytes, 1) / 8) * 8);
    for (let n = from; n < end; n += step) {
      const rows = Math.min(step, end - n);
      const { address } = this.#stage(rows * rowBytes);
      const at = (n - place.start) * rowBytes;
      this.#memory.bytes(address, rows * rowBytes).set(part.bytes.subarray(at, at + rows * rowBytes));
      const factors = rowScales(part, n - place.start, n - place.start + rows);
      const scales = factors ? this.#stageScales(factors) : 0;
      const n0 = n - place.base;
      const dtype = floatNumbers[part.dtype] ?? 0;
      const { to, groupRows } = place;
      const job = { from: address, to, n0, rows, c, taps, dtype, elementBytes, scales, groupRows };
      this.#pool.run('pack', job, packTiles(n0, rows));
    }
  }

  /** `[C, O, k]` as float32 rows `[k O, C]`: one product then gives all taps. */
  #turn(weight: CpuWeight): HostTensor {
    const [c, outputs, k] = weight.shape as readonly [number, number, number];
    const rows = new Float32Array(k * outputs * c);
    let channel = 0;
    for (const part of weight.parts) {
      const count = part.shape[0] ?? 0;
      const width = outputs * k;
      const raw = this.#stage(width * 8);
      const wide = raw.address + width * 4;
      const bytes = width * dtypeBytes(part.dtype);
      for (let i = 0; i < count; i++, channel++) {
        this.#memory.bytes(raw.address, bytes).set(part.bytes.subarray(i * bytes, (i + 1) * bytes));
        const scale = rowScales(part, i, i + 1)?.[0] ?? 1;
        this.#pool.thread.kernels.widen(wide, raw.address, width, floatNumbers[part.dtype] ?? 0, scale);
        const values = this.#memory.floats(wide, width);
        for (let o = 0; o < outputs; o++)
          for (let tap = 0; tap < k; tap++) rows[(tap * outputs + o) * c + channel] = values[o * k + tap] as number;
      }
    }
    return { shape: [k * outputs, c], dtype: 'f32', bytes: new Uint8Array(rows.buffer) };
  }

  /** For memory that is needed now: what is only kept makes room. */
  #allocate(bytes: number): number {
    if (!this.#memory.fits(bytes)) this.#releaseAll();
    return this.#memory.allocate(bytes);
  }

  #stage(bytes: number): { readonly address: number } {
    if (this.#staging && this.#staging.bytes >= bytes) return this.#staging;
    if (this.#staging) this.#memory.free(this.#staging.address);
    this.#staging = null;
    // A few elements more: the widening kernel reads whole vectors.
    const size = Math.max(bytes, 1 << 16) + 64;
    this.#staging = { address: this.#allocate(size), bytes: size - 64 };
    return this.#staging;
  }

  #stageScales(factors: Float32Array): number {
    if (!this.#scales || this.#scales.rows < factors.length) {
      if (this.#scales) this.#memory.free(this.#scales.address);
      this.#scales = null;
      this.#scales = { address: this.#allocate(factors.byteLength), rows: factors.length };
    }
    this.#memory.floats(this.#scales.address, factors.length).set(factors);
    return this.#scales.address;
  }
}

function findRow(weight: CpuWeight, id: number): { readonly part: HostTensor; readonly row: number } {
  let row = id;
  if (row >= 0)
    for (const part of weight.parts) {
      const rows = part.shape[0] ?? 0;
      if (row < rows) return { part, row };
      row -= rows;
    }
  throw new RangeError(`embed: id ${id} of a table with ${weight.shape[0]} rows`);
}

/** Rows and row layout of a weight as its products read it. */
export function packShape(weight: CpuWeight, groups = 1): PackShape {
  const { shape, use } = weight;
  if (use === 'transposed-convolution') {
    const [c = 0, outputs = 0, k = 0] = shape;
    return { rows: k * outputs, c, taps: 1, groups: 1 };
  }
  const [rows = 0, c = 0] = shape;
  return { rows, c, taps: elementCount(shape.slice(2)), groups };
}
