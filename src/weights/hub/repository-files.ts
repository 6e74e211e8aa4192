// What a repository holds: its commit and its files with their checksums.
import { type Connection, persistentFetch } from './connection.js';
import { HubError } from './hub-error.js';

/** A file of a repository. */
export interface RepositoryFile {
  /** Path inside the repository, with slashes. */
  readonly path: string;
  readonly size: number;
  readonly checksum: Checksum;
}

/** Large files are known by the sha256 of their bytes, small ones by git's blob id. The digest also names the blob in the cache. */
export interface Checksum {
  readonly algorithm: 'sha256' | 'git-blob';
  readonly hex: string;
}

/** A repository at one commit. */
export interface RepositoryListing {
  readonly commit: string;
  readonly files: readonly RepositoryFile[];
}

const commitPattern = /^[0-9a-f]{40}$/;

function isInside(path: string): boolean {
  const unsafe = /^\/|^[a-zA-Z]:|\\|\0/.test(path);
  return !unsafe && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/**
 * Asks the hub for a revision's commit and its files.
 * @throws HubError when it refuses, is not reachable or answers nonsense.
 */
export async function listRepository(connection: Connection, revision: string): Promise<RepositoryListing> {
  const { endpoint, repo } = connection;
  // Loaded here since most runs never ask the hub.
  const { listFiles, modelInfo } = await import('@huggingface/hub');
  const what = revision === 'main' ? repo : `${repo} at ${revision}`;
  const access = { hubUrl: endpoint, fetch: persistentFetch(connection, what) };
  try {
    const info = await modelInfo({ name: repo, revision, additionalFields: ['sha'], ...access });
    const commit = info.sha;
    if (typeof commit !== 'string' || !commitPattern.test(commit)) {
      throw new HubError('server', `${what}: the hub gave the commit ${JSON.stringify(commit)}; try again later`);
    }
    const files: RepositoryFile[] = [];
    for await (const entry of listFiles({ repo, revision: commit, recursive: true, ...access })) {
      if (entry.type !== 'file') continue;
      if (!isInside(entry.path)) {
        throw new HubError(
          'server',
          `${what}: it lists the path ${JSON.stringify(entry.path)}, which leaves its folder; use another repository`,
        );
      }
      const { lfs, oid, path } = entry;
      const hex = lfs?.oid ?? oid ?? '';
      if (!/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(hex)) {
        throw new HubError('server', `${what}: ${path} has no checksum; try again later`);
      }
      files.push({
        path,
        size: lfs?.size ?? entry.size,
        checksum: { algorithm: lfs === undefined ? 'git-blob' : 'sha256', hex },
      });
    }
    return { commit, files };
  } catch (error) {
    connection.signal?.throwIfAborted();
    if (error instanceof HubError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new HubError('server', `${what}: the answer of ${endpoint} cannot be read (${reason}); try again later`, {
      cause: error,
    });
  }
}
