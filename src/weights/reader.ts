// How networks take their weights: by name and expected shape, each read checked, what nobody read reported.
import { dtypeBytes, elementCount } from '../backend/index.js';
import { listNames, WeightError } from './errors.js';
import { type StoredWeight, scaleName, type WeightInfo, type WeightTable } from './weight-table.js';

/** Checked access to the weights of one part. Scopes share what has been read and what is missing. */
export interface WeightReader {
  /**
   * A weight of exactly this shape.
   * @throws WeightError when it is missing, misshaped or of an unusable dtype; a collecting reader records that and gives zeros instead.
   */
  read(name: string, shape: readonly number[]): StoredWeight;
  /** The same, or undefined when there is no weight of this name. */
  optional(name: string, shape: readonly number[]): StoredWeight | undefined;
  has(name: string): boolean;
  /** Shape and dtype without reading, or undefined when there is none. */
  info(name: string): WeightInfo | undefined;
  /** A reader whose names begin with `prefix.` */
  scope(prefix: string): WeightReader;
  /** Full names of this scope that nobody has read yet. Scales count as read with their weight. */
  unread(): readonly string[];
  /** What a collecting reader has recorded, in the order of the reads. */
  missing(): readonly WeightError[];
  /** @throws WeightError naming everything that a collecting reader has recorded, if anything. */
  settle(): void;
}

/** How a reader treats weights that do not fit. */
export interface ReaderOptions {
  /** Record misfits and go on, instead of throwing at the first. */
  readonly collect?: boolean;
}

interface Shared {
  readonly table: WeightTable;
  readonly collect: boolean;
  readonly read: Set<string>;
  readonly problems: WeightError[];
}

/** A reader over all weights of a table. */
export function createWeightReader(table: WeightTable, options: ReaderOptions = {}): WeightReader {
  return new ScopedReader({ table, collect: options.collect === true, read: new Set(), problems: [] }, '');
}

class ScopedReader implements WeightReader {
  readonly #shared: Shared;
  readonly #prefix: string;

  constructor(shared: Shared, prefix: string) {
    this.#shared = shared;
    this.#prefix = prefix;
  }

  read(name: string, shape: readonly number[]): StoredWeight {
    const full = this.#prefix + name;
    try {
      return this.#load(full, shape);
    } catch (error) {
      if (!this.#shared.collect || !(error instanceof WeightError)) throw error;
      this.#shared.problems.push(error);
      return { name: full, dtype: 'f32', shape, bytes: new Uint8Array(elementCount(shape) * dtypeBytes('f32')) };
    }
  }

  optional(name: string, shape: readonly number[]): StoredWeight | undefined {
    return this.has(name) ? this.read(name, shape) : undefined;
  }

  has(name: string): boolean {
    return this.info(name) !== undefined;
  }

  info(name: string): WeightInfo | undefined {
    return this.#shared.table.info(this.#prefix + name);
  }

  scope(prefix: string): WeightReader {
    return new ScopedReader(this.#shared, `${this.#prefix}${prefix}.`);
  }

  unread(): readonly string[] {
    const { table, read } = this.#shared;
    return table.names.filter((name) => name.startsWith(this.#prefix) && !read.has(name));
  }

  missing(): readonly WeightError[] {
    return this.#shared.problems;
  }

  settle(): void {
    const { problems, table } = this.#shared;
    const [first] = problems;
    if (first === undefined) return;
    if (problems.length === 1) throw first;
    const details = problems
      .slice(0, 5)
      .map(({ weight, expected, found }) => `${weight} (${expected}, found ${found})`);
    const rest = problems.length > 5 ? ` and ${problems.length - 5} more` : '';
    const names = listNames(problems.map(({ weight }) => weight));
    throw new WeightError(
      names,
      `${problems.length} weights of ${table.origin}: ${details.join('; ')}${rest}`,
      'none that fit',
    );
  }

  #load(full: string, shape: readonly number[]): StoredWeight {
    const { table, read } = this.#shared;
    const info = table.info(full);
    const wanted = `shape [${shape.join(', ')}]`;
    if (info === undefined) throw new WeightError(full, wanted, `no such tensor in ${table.origin}`);
    if (info.shape.length !== shape.length || info.shape.some((size, axis) => size !== shape[axis])) {
      throw new WeightError(full, wanted, `[${info.shape.join(', ')}] in ${info.file}`);
    }
    const weight = table.load(full);
    read.add(full);
    if (weight.scale !== undefined) {
      read.add(scaleName(full));
      // Quantised checkpoints may carry an activation scale too; activations are scaled from their own values here.
      read.add(full.replace(/weight$/, 'input_scale'));
    }
    return weight;
  }
}
