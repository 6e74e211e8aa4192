// From a model's name to an opened checkpoint with its facts. No weights are read.
import { join } from 'node:path';
import type { CheckpointFacts } from '../../pipeline/facts.js';
import { RequestError } from '../../protocol/index.js';
import {
  type Checkpoint,
  CheckpointError,
  type LoraAdapter,
  mergeIntoCheckpoint,
  openCheckpoint,
  openLora,
  openSyntheticCheckpoint,
  type PullProgress,
  resolveCheckpoint,
  WeightError,
} from '../../weights/index.js';
import type { EngineConfig } from '../config.js';
import { type LoraOptions, type MergedAdapter, readLora } from '../door/read-lora.js';
import { checkpointName, readCheckpointFacts } from './checkpoint-facts.js';
import { findDefaultCheckpoint } from './default-checkpoint.js';
import { type SyntheticName, syntheticConfigs } from './synthetic-configs.js';

/** A checkpoint that is open. */
export interface OpenedModel {
  readonly checkpoint: Checkpoint;
  readonly facts: CheckpointFacts;
  /** As the caller named it; null for the package's own. */
  readonly given: string | null;
}

/** Which checkpoint, and how it may be fetched. */
export interface ModelOptions {
  /** A folder, a .safetensors file or a repository id; the package's own where absent. */
  readonly model?: string | undefined;
  readonly revision?: string | undefined;
  /** Random weights of a network's full size instead of a checkpoint, with the tokenizer of the package's own; for measurements. */
  readonly synthetic?: SyntheticName | undefined;
  /** Parts that lie elsewhere, by name. */
  readonly parts?: Readonly<Record<string, string>> | undefined;
  /** An adapter that is merged into the transformer's weights as they are read, before anything is quantised. */
  readonly lora?: LoraOptions | undefined;
  readonly onDownload?: ((progress: PullProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Finds, downloads where needed, and opens a checkpoint.
 * @param check what else must be true of it; closes it by throwing
 * @throws CheckpointError, HubError, ConfigError or TokenizerError saying what is wrong and what to do; RequestError for a model
 *   that is neither a path nor a repository, and for an adapter that does not fit
 */
export async function openModel(
  options: ModelOptions,
  config: EngineConfig,
  check: (checkpoint: Checkpoint) => void = () => undefined,
): Promise<OpenedModel> {
  const lora = options.lora && readLora(options.lora);
  if (options.synthetic !== undefined) {
    if (lora === undefined) return openSynthetic(options.synthetic, check);
    throw new RequestError(
      'conflict',
      'lora_path',
      'an adapter cannot be merged into random weights (--synthetic); leave --lora-path out, or give a checkpoint',
    );
  }
  const given = options.model ?? config.model ?? null;
  const place =
    given === null ? { path: findDefaultCheckpoint(), isLocal: true } : await resolve(given, options, config);
  let checkpoint = openCheckpoint(place.path, { parts: options.parts ?? {} });
  try {
    const id = checkpointName(given ?? '', place.path, place.isLocal);
    const facts = readCheckpointFacts(checkpoint, id);
    check(checkpoint);
    if (lora !== undefined) checkpoint = mergeAdapter(checkpoint, lora);
    return { checkpoint, facts, given };
  } catch (error) {
    checkpoint[Symbol.dispose]();
    throw error;
  }
}

/** @throws RequestError for an adapter that is missing, damaged, or made for another network */
export function openAdapter<T>(path: string, use: (adapter: LoraAdapter) => T): T {
  let adapter: LoraAdapter | undefined;
  try {
    adapter = openLora(path);
    return use(adapter);
  } catch (error) {
    adapter?.[Symbol.dispose]();
    if (!(error instanceof CheckpointError) && !(error instanceof WeightError)) throw error;
    const where = error instanceof WeightError ? `${path}: ` : '';
    throw new RequestError('invalid_value', 'lora_path', `--lora-path ${where}${error.message}`);
  }
}

function mergeAdapter(checkpoint: Checkpoint, { path, scale }: MergedAdapter): Checkpoint {
  // What is wrong with the checkpoint's own files is no fault of the adapter.
  checkpoint.part('transformer').table();
  return openAdapter(path, (adapter) => mergeIntoCheckpoint(checkpoint, adapter, scale));
}

function openSynthetic(name: SyntheticName, check: (checkpoint: Checkpoint) => void): OpenedModel {
  const folders = { text_tokenizer: join(findDefaultCheckpoint(), 'text_tokenizer') };
  const checkpoint = openSyntheticCheckpoint({ name, configs: syntheticConfigs(name), folders });
  check(checkpoint);
  return { checkpoint, facts: readCheckpointFacts(checkpoint, `synthetic-${name}`), given: null };
}

async function resolve(
  model: string,
  { revision, onDownload, signal }: ModelOptions,
  { cacheDir, token, endpoint, offline }: EngineConfig,
): Promise<{ readonly path: string; readonly isLocal: boolean }> {
  const found = resolveCheckpoint(model, {
    cacheDir,
    offline,
    ...(token === undefined ? {} : { token }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(revision === undefined ? {} : { revision }),
    ...(signal === undefined ? {} : { signal }),
    ...(onDownload === undefined ? {} : { onProgress: onDownload }),
  });
  const { path, source } = await found.catch((error: unknown) => {
    throw error instanceof CheckpointError ? new RequestError('invalid_value', 'model', error.message) : error;
  });
  return { path, isLocal: source === 'local' };
}
