// A checkpoint without files: configurations, and weights of random numbers under every name and shape that is asked for.
import { elementCount } from '../../backend/index.js';
import type { Checkpoint, CheckpointPart } from '../checkpoint.js';
import { CheckpointError } from '../errors.js';
import { fromFloat32 } from '../floats.js';
import { emptyModelIndex } from '../model-index.js';
import type { WeightReader } from '../reader.js';
import type { StoredWeight } from '../weight-table.js';
import { randomWeight } from './random-weight.js';

export interface SyntheticOptions {
  /** Shown as its path. */
  readonly name: string;
  /** Configurations by part. */
  readonly configs: Readonly<Record<string, unknown>>;
  /** A part that is taken from a folder, for its files: the tokenizer. */
  readonly folders: Readonly<Record<string, string>>;
}

/** Opens it. Reading a weight never fails. */
export function openSyntheticCheckpoint({ name, configs, folders }: SyntheticOptions): Checkpoint {
  const names = [...Object.keys(configs), ...Object.keys(folders)];
  return {
    path: `synthetic:${name}`,
    index: { ...emptyModelIndex, parts: new Map(names.map((part) => [part, 'synthetic'])) },
    partNames: names,
    has: (part) => names.includes(part),
    part(part) {
      const config = configs[part];
      const folder = folders[part];
      if (config === undefined && folder === undefined)
        throw new CheckpointError(`synthetic:${name}`, `part ${part} is not in it`, `it has ${names.join(', ')}`);
      return new SyntheticPart(part, folder ?? `synthetic:${name}/${part}`, config ?? {});
    },
    [Symbol.dispose]() {},
  };
}

class SyntheticPart implements CheckpointPart {
  constructor(
    readonly name: string,
    readonly path: string,
    readonly config: unknown,
  ) {}

  table(): never {
    throw new CheckpointError(this.path, 'random weights are in no file', 'give a checkpoint with --model');
  }

  weights(): WeightReader {
    return new SyntheticReader(`${this.name}.`);
  }

  weightFiles(): readonly [] {
    return [];
  }

  file(name: string): never {
    throw new CheckpointError(this.path, `random weights have no file ${name}`, 'give a checkpoint with --model');
  }

  [Symbol.dispose](): void {}
}

/** Gives whatever is asked for: vectors with real numbers (ones for norms, else zeros), all else described. */
class SyntheticReader implements WeightReader {
  constructor(private readonly prefix: string) {}

  read(name: string, shape: readonly number[]): StoredWeight {
    const full = this.prefix + name;
    if (shape.filter((size) => size > 1).length > 1) return randomWeight(full, shape);
    const value = /norm|gamma/.test(name) ? 1 : 0;
    return {
      name: full,
      dtype: 'f32',
      shape,
      bytes: fromFloat32(new Float32Array(elementCount(shape)).fill(value), 'f32'),
    };
  }

  optional(name: string, shape: readonly number[]): StoredWeight {
    return this.read(name, shape);
  }

  has(): boolean {
    return true;
  }

  info(): undefined {
    return undefined;
  }

  scope(prefix: string): WeightReader {
    return new SyntheticReader(`${this.prefix}${prefix}.`);
  }

  unread(): readonly [] {
    return [];
  }

  missing(): readonly [] {
    return [];
  }

  settle(): void {}
}
