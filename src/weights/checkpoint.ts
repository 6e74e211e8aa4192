// A checkpoint: a folder in the diffusers layout, or one weight file, opened part by part.
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CheckpointError, listNames } from './errors.js';
import { isRecord, readJson } from './json-file.js';
import { emptyModelIndex, type ModelIndex, readModelIndex } from './model-index.js';
import { hasWeights, openPartWeights, type PartWeights } from './part-weights.js';
import { createWeightReader, type ReaderOptions, type WeightReader } from './reader.js';
import type { WeightTable } from './weight-table.js';

/** One part: `transformer`, `vae`, `text_tokenizer`, `scheduler`, `sound_tokenizer`, … */
export interface CheckpointPart extends Disposable {
  readonly name: string;
  /** Its folder. */
  readonly path: string;
  /** Its configuration file, parsed but not checked: the network that reads it does. */
  readonly config: unknown;
  /** Its weights by name, opened on first use. @throws CheckpointError when they are missing or damaged. */
  table(): WeightTable;
  /** A checked reader over them. */
  weights(options?: ReaderOptions): WeightReader;
  /** The weight files and their sizes. */
  weightFiles(): readonly { readonly path: string; readonly size: number }[];
  /** Path of another file of the part. @throws CheckpointError when it is missing. */
  file(name: string): string;
}

/** A merged adapter, wherever it lay. */
export interface MergedLora {
  /** Of its contents, in hex. */
  readonly sha256: string;
  readonly scale: number;
}

/** An opened checkpoint. Disposing of it closes every part's files; views read from them stay valid. */
export interface Checkpoint extends Disposable {
  /** Absolute path of the folder, or of the single file. */
  readonly path: string;
  readonly index: ModelIndex;
  /** Parts that are there, in the order of model_index.json. */
  readonly partNames: readonly string[];
  /** The adapter that is merged into its transformer as that is read; absent where there is none. */
  readonly lora?: MergedLora;
  /** Whether the part's files are there. */
  has(part: string): boolean;
  /** Opens a part. @throws CheckpointError when it is missing or has no configuration. */
  part(name: string): CheckpointPart;
}

/** How a checkpoint is opened. */
export interface CheckpointOptions {
  /** Parts that lie elsewhere: folders, or .safetensors files whose configuration comes from the checkpoint. */
  readonly parts?: Readonly<Record<string, string>>;
  /** False reads weight files by ranges instead of mapping them. */
  readonly map?: boolean;
}

const configNames = ['config.json', 'scheduler_config.json', 'tokenizer_config.json'];
const configRemedy = 'download the checkpoint again (orrery pull)';

/**
 * Opens a checkpoint. Nothing but model_index.json is read until a part is asked for.
 * A single .safetensors file is the transformer, in either naming: its other parts and its configuration come from the folder it
 * lies in or that folder's parent, or its configuration from a `config` entry of its metadata.
 * @throws CheckpointError when there is no checkpoint.
 */
export function openCheckpoint(path: string, options: CheckpointOptions = {}): Checkpoint {
  const absolute = resolve(path);
  if (!existsSync(absolute)) {
    throw new CheckpointError(
      absolute,
      'no such file or folder',
      'check the path, or give a repository id such as owner/name',
    );
  }
  const overrides: Record<string, string> = {};
  let base: string | undefined = absolute;
  if (statSync(absolute).isFile()) {
    overrides.transformer = absolute;
    base = [dirname(absolute), dirname(dirname(absolute))].find((folder) =>
      existsSync(join(folder, 'model_index.json')),
    );
  }
  for (const [name, place] of Object.entries(options.parts ?? {})) overrides[name] = resolve(place);
  const index = base === undefined ? emptyModelIndex : readModelIndex(base);
  return new OpenedCheckpoint(absolute, index, { base, overrides, map: options.map !== false });
}

interface Places {
  readonly base: string | undefined;
  readonly overrides: Readonly<Record<string, string>>;
  readonly map: boolean;
}

class OpenedCheckpoint implements Checkpoint {
  readonly partNames: readonly string[];
  readonly #parts = new Map<string, CheckpointPart>();

  constructor(
    readonly path: string,
    readonly index: ModelIndex,
    private readonly places: Places,
  ) {
    this.partNames = [...new Set([...index.parts.keys(), ...Object.keys(places.overrides)])].filter((name) =>
      this.has(name),
    );
  }

  has(part: string): boolean {
    const place = this.places.overrides[part] ?? this.#folder(part);
    return place !== undefined && existsSync(place);
  }

  part(name: string): CheckpointPart {
    let part = this.#parts.get(name);
    if (part === undefined) {
      part = this.#open(name);
      this.#parts.set(name, part);
    }
    return part;
  }

  [Symbol.dispose](): void {
    for (const part of this.#parts.values()) part[Symbol.dispose]();
  }

  #folder(part: string): string | undefined {
    return this.places.base === undefined ? undefined : join(this.places.base, part);
  }

  #open(name: string): CheckpointPart {
    const { overrides, map } = this.places;
    const place = overrides[name] ?? this.#folder(name);
    if (place === undefined || !existsSync(place)) {
      const named = this.index.parts.has(name)
        ? ', named by model_index.json, is missing'
        : ' is not in this checkpoint';
      const remedy = `download it with orrery pull --include '${name}/*', or use a checkpoint that has it (this one: ${listNames(this.partNames, 12) || 'none'})`;
      throw new CheckpointError(place ?? this.path, `part ${name}${named}`, remedy);
    }
    if (statSync(place).isDirectory()) return new OpenedPart(name, place, place, map, readFolderConfig(place));
    const folder = this.#folder(name) ?? dirname(place);
    return new OpenedPart(name, folder, place, map, undefined);
  }
}

class OpenedPart implements CheckpointPart {
  #weights: PartWeights | undefined;
  #config: unknown;

  constructor(
    readonly name: string,
    readonly path: string,
    private readonly weightPath: string,
    private readonly map: boolean,
    config: unknown,
  ) {
    this.#config = config;
  }

  get config(): unknown {
    this.#config ??= this.#singleFileConfig();
    return this.#config;
  }

  table(): WeightTable {
    return this.#open().table;
  }

  weights(options: ReaderOptions = {}): WeightReader {
    return createWeightReader(this.table(), options);
  }

  weightFiles(): readonly { readonly path: string; readonly size: number }[] {
    const isFolder = this.weightPath === this.path;
    if (isFolder && !hasWeights(this.path)) return [];
    return this.#open().files.map(({ path, size }) => ({ path, size }));
  }

  file(name: string): string {
    const path = join(this.path, name);
    if (!existsSync(path)) throw new CheckpointError(this.path, `part ${this.name} has no ${name}`, configRemedy);
    return path;
  }

  [Symbol.dispose](): void {
    this.#weights?.[Symbol.dispose]();
    this.#weights = undefined;
  }

  #open(): PartWeights {
    this.#weights ??= openPartWeights(this.weightPath, { map: this.map });
    return this.#weights;
  }

  // A weight file has no place of its own for its configuration: beside it, in the folder of the part, or in its metadata.
  #singleFileConfig(): unknown {
    const beside = [join(dirname(this.weightPath), 'config.json'), join(this.path, 'config.json')].find((file) =>
      existsSync(file),
    );
    if (beside !== undefined) return readConfig(beside);
    const text = this.#open().files[0]?.metadata.config;
    if (text === undefined) {
      throw new CheckpointError(
        this.weightPath,
        `no configuration for this ${this.name}`,
        'put its config.json beside it',
      );
    }
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw new CheckpointError(
        this.weightPath,
        'the config entry of its metadata is no valid JSON',
        'put its config.json beside it',
        { cause },
      );
    }
  }
}

function readFolderConfig(folder: string): unknown {
  const name = configNames.find((candidate) => existsSync(join(folder, candidate)));
  if (name === undefined) {
    throw new CheckpointError(folder, `part ${basename(folder)} has none of ${configNames.join(', ')}`, configRemedy);
  }
  return readConfig(join(folder, name));
}

function readConfig(file: string): unknown {
  const config = readJson(file);
  if (!isRecord(config)) throw new CheckpointError(file, 'no JSON object', configRemedy);
  return config;
}
