// Where the weights lie that a caller names: a path, or a repository id that is in the cache or fetched.
import { resolveCheckpoint } from '../../../weights/index.js';
import { findDefaultCheckpoint } from '../../checkpoint/default-checkpoint.js';
import type { EngineConfig } from '../../config.js';

/**
 * Finds it.
 * @param name where absent, the checkpoint that the environment names, else the package's own
 * @throws CheckpointError or HubError
 */
export async function findCheckpoint(
  name: string | undefined,
  { model, cacheDir, token, endpoint, offline }: EngineConfig,
  signal: AbortSignal | undefined,
): Promise<string> {
  const given = name ?? model;
  if (given === undefined) return findDefaultCheckpoint();
  const found = await resolveCheckpoint(given, {
    cacheDir,
    offline,
    ...(token === undefined ? {} : { token }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(signal === undefined ? {} : { signal }),
  });
  return found.path;
}
