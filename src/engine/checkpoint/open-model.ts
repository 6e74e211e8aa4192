// From a model's name to an opened checkpoint with its facts. No weights are read.
import { join } from 'node:path';
import type { CheckpointFacts } from '../../pipeline/facts.js';
import {
  type Checkpoint,
  openCheckpoint,
  openSyntheticCheckpoint,
  type PullProgress,
  resolveCheckpoint,
} from '../../weights/index.js';
import type { EngineConfig } from '../config.js';
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
  readonly onDownload?: ((progress: PullProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Finds, downloads where needed, and opens a checkpoint.
 * @throws CheckpointError, HubError, ConfigError or TokenizerError saying what is wrong and what to do
 */
export async function openModel(options: ModelOptions, config: EngineConfig): Promise<OpenedModel> {
  if (options.synthetic !== undefined) return openSynthetic(options.synthetic);
  const given = options.model ?? config.model ?? null;
  const place =
    given === null ? { path: findDefaultCheckpoint(), isLocal: true } : await resolve(given, options, config);
  const checkpoint = openCheckpoint(place.path, { parts: options.parts ?? {} });
  try {
    const id = checkpointName(given ?? '', place.path, place.isLocal);
    const facts = readCheckpointFacts(checkpoint, id);
    return { checkpoint, facts, given };
  } catch (error) {
    checkpoint[Symbol.dispose]();
    throw error;
  }
}

function openSynthetic(name: SyntheticName): OpenedModel {
  const folders = { text_tokenizer: join(findDefaultCheckpoint(), 'text_tokenizer') };
  const checkpoint = openSyntheticCheckpoint({ name, configs: syntheticConfigs(name), folders });
  return { checkpoint, facts: readCheckpointFacts(checkpoint, `synthetic-${name}`), given: null };
}

async function resolve(
  model: string,
  { revision, onDownload, signal }: ModelOptions,
  { cacheDir, token, endpoint, offline }: EngineConfig,
): Promise<{ readonly path: string; readonly isLocal: boolean }> {
  const { path, source } = await resolveCheckpoint(model, {
    cacheDir,
    offline,
    ...(token === undefined ? {} : { token }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(revision === undefined ? {} : { revision }),
    ...(signal === undefined ? {} : { signal }),
    ...(onDownload === undefined ? {} : { onProgress: onDownload }),
  });
  return { path, isLocal: source === 'local' };
}
