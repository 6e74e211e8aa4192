// From what a person writes, a path or a repository id, to a checkpoint on this machine.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CheckpointError } from './errors.js';
import { HubError } from './hub/hub-error.js';
import { findCached, isRepositoryId, type PullOptions, pullRepository } from './hub/pull.js';
import { readModelIndex } from './model-index.js';
import { hasWeights, listShards } from './part-weights.js';

/** Where a checkpoint lies, and where it came from. */
export interface ResolvedCheckpoint {
  /** Absolute path of a folder or a .safetensors file, for `openCheckpoint`. */
  readonly path: string;
  readonly source: 'local' | 'cache' | 'download';
}

/** What a checkpoint consists of; repositories hold videos and notes besides. */
const checkpointFiles = ['*.safetensors', '*.json', '*.txt', '*.jinja', '*.model'];

const withWeights = new Set(['transformer', 'vae', 'sound_tokenizer']);
const needed = new Set([...withWeights, 'text_tokenizer', 'scheduler']);

/**
 * Finds a checkpoint: an existing path wins, then a complete copy in the cache (the network is not asked), then a download.
 * @throws CheckpointError when the text is neither an existing path nor a repository id; HubError when the download fails or is not allowed.
 */
export async function resolveCheckpoint(pathOrId: string, options: PullOptions): Promise<ResolvedCheckpoint> {
  const path = resolve(pathOrId);
  if (existsSync(path)) return { path, source: 'local' };
  if (!isRepositoryId(pathOrId) || pathOrId.endsWith('.safetensors')) {
    throw new CheckpointError(
      pathOrId,
      'no such file or folder',
      'check the path, or give a repository id such as owner/name',
    );
  }
  const cached = findCached(pathOrId, options);
  const missing = cached === undefined ? 'nothing of it' : describeIncomplete(cached);
  if (cached !== undefined && missing === undefined) return { path: cached, source: 'cache' };
  if (options.offline === true) {
    throw new HubError(
      'offline',
      `${pathOrId} is not in the cache ${options.cacheDir} (missing: ${missing}) and offline is set: unset HF_HUB_OFFLINE, or run orrery pull ${pathOrId} where there is a network`,
    );
  }
  const include = options.include ?? checkpointFiles;
  const { folder } = await pullRepository(pathOrId, { ...options, include });
  return { path: folder, source: 'download' };
}

/** The first thing a checkpoint folder lacks for generation, or undefined when it is complete. */
function describeIncomplete(folder: string): string | undefined {
  if (!existsSync(join(folder, 'model_index.json'))) return 'model_index.json';
  try {
    for (const part of readModelIndex(folder).parts.keys()) {
      if (!needed.has(part)) continue;
      const partFolder = join(folder, part);
      if (!existsSync(partFolder)) return `${part}/`;
      if (part === 'text_tokenizer' && !existsSync(join(partFolder, 'tokenizer.json'))) return `${part}/tokenizer.json`;
      if (!withWeights.has(part)) continue;
      if (!existsSync(join(partFolder, 'config.json'))) return `${part}/config.json`;
      const shards = listShards(partFolder);
      const absent = shards?.find((shard) => !existsSync(join(partFolder, shard)));
      if (absent !== undefined) return `${part}/${absent}`;
      if (shards === undefined && !hasWeights(partFolder)) return `the weights of ${part}/`;
    }
  } catch (error) {
    if (error instanceof CheckpointError) return error.message;
    throw error;
  }
  return undefined;
}
