// Fetching a checkpoint on purpose, with the settings of this process.
import { RequestError } from '../../protocol/index.js';
import { isRepositoryId, type Pulled, type PullProgress, pullRepository } from '../../weights/index.js';
import { type EngineConfig, readConfig } from '../config.js';

/** What to fetch. */
export interface PullRequest {
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly localDir?: string | undefined;
  readonly revision?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
}

/**
 * Downloads a repository into the cache, or a folder.
 * @throws RequestError for what cannot be a repository; HubError saying what the hub refused and what to do; the signal's reason when stopped
 */
export function pullCheckpoint(
  repo: string,
  request: PullRequest,
  config: EngineConfig = readConfig(),
): Promise<Pulled> {
  if (!isRepositoryId(repo))
    return Promise.reject(
      new RequestError('invalid_value', 'repository', `${JSON.stringify(repo)} is no repository id: write owner/name`),
    );
  const { token, endpoint, cacheDir, offline } = config;
  const given = { token, endpoint, ...request };
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return pullRepository(repo, { cacheDir, offline, ...Object.fromEntries(entries) });
}
