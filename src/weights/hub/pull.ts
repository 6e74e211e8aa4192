// Fetching a repository, or some of its files, into the hub's cache or a folder.
import { statfsSync, statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { findSnapshot, writeRef } from './cache-layout.js';
import type { Connection } from './connection.js';
import { downloadFile } from './download-file.js';
import { withFileLock } from './file-lock.js';
import { selectFiles } from './file-patterns.js';
import { HubError } from './hub-error.js';
import { listRepository, type RepositoryFile, type RepositoryListing } from './repository-files.js';
import { CacheStore, FolderStore, type Store } from './stores.js';

/** How far a pull is. */
export interface PullProgress {
  /** The file that moved last. */
  readonly file: string;
  readonly fileBytes: number;
  readonly fileSize: number;
  /** Over all files, those already there included. */
  readonly bytes: number;
  readonly totalBytes: number;
  readonly filesDone: number;
  readonly files: number;
}

/** What to fetch, from where, and where to. */
export interface PullOptions {
  /** The hub's cache folder (`HF_HOME/hub`). */
  readonly cacheDir: string;
  /** Patterns of files to fetch; all when empty. `vision_encoder/` comes only when a pattern begins with it. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** Plain files in this folder instead of the cache. */
  readonly localDir?: string;
  /** Branch, tag or commit. Default `main`. */
  readonly revision?: string;
  readonly token?: string;
  /** Default `https://huggingface.co`. */
  readonly endpoint?: string;
  /** Never ask the network. */
  readonly offline?: boolean;
  readonly signal?: AbortSignal;
  /** Called at most every 50 ms, and at each file's end. */
  readonly onProgress?: (progress: PullProgress) => void;
  /** Tries without progress (default 5), pause before the second in ms (default 500), silence that counts as broken (default 60 000). */
  readonly attempts?: number;
  readonly retryDelay?: number;
  readonly stallTimeout?: number;
}

/** What a pull fetched. */
export interface Pulled {
  /** The snapshot in the cache, or `localDir`. */
  readonly folder: string;
  readonly commit: string;
  /** Paths inside the folder. */
  readonly files: readonly string[];
  readonly totalBytes: number;
}

const parallelFiles = 4;
const repoPattern = /^[\w-][\w.-]*\/[\w-][\w.-]*$/;

/** Whether the text can be a repository id, `owner/name`. */
export function isRepositoryId(text: string): boolean {
  return repoPattern.test(text) && !text.includes('..') && !text.includes('--');
}

/**
 * Downloads the files of a repository: those already there are kept, broken ones continued, all checked against the hub's checksums.
 * Weights come last, so that a folder with all its weights has everything else too.
 * @throws HubError · the signal's reason when aborted (what was fetched stays, for the next time).
 */
export async function pullRepository(repo: string, options: PullOptions): Promise<Pulled> {
  const { revision = 'main', signal } = options;
  if (!isRepositoryId(repo))
    throw new HubError('invalid', `${JSON.stringify(repo)} is no repository id: write owner/name`);
  if (!/^[\w.-]+(\/[\w.-]+)*$/.test(revision) || revision.includes('..')) {
    throw new HubError('invalid', `${JSON.stringify(revision)} is no revision: give a branch, a tag or a commit`);
  }
  if (options.offline === true) {
    throw new HubError('offline', `${repo} cannot be downloaded offline: unset HF_HUB_OFFLINE, or give a local folder`);
  }
  const connection: Connection = {
    endpoint: (options.endpoint ?? 'https://huggingface.co').replace(/\/+$/, ''),
    token: options.token,
    repo,
    signal,
    attempts: options.attempts ?? 5,
    retryDelay: options.retryDelay ?? 500,
    stallTimeout: options.stallTimeout ?? 60_000,
  };
  signal?.throwIfAborted();
  const listing = await listRepository(connection, revision);
  const files = selectFiles(listing.files, options.include ?? [], options.exclude ?? []);
  if (files.length === 0) {
    throw new HubError(
      'not-found',
      `no file of ${repo} matches ${JSON.stringify(options.include ?? [])}; it has ${listing.files.length} files`,
    );
  }
  const store: Store =
    options.localDir === undefined
      ? new CacheStore(options.cacheDir, repo, listing)
      : new FolderStore(resolve(options.localDir), listing);
  await fetchFiles(connection, store, listing, files, options.onProgress);
  if (options.localDir === undefined) await writeRef(options.cacheDir, repo, revision, listing.commit);
  return {
    folder: store.folder,
    commit: listing.commit,
    files: files.map(({ path }) => path),
    totalBytes: sumSizes(files),
  };
}

/** The cached snapshot of a repository, whatever it holds, or undefined. Never asks the network. */
export function findCached(repo: string, options: Pick<PullOptions, 'cacheDir' | 'revision'>): string | undefined {
  return findSnapshot(options.cacheDir, repo, options.revision ?? 'main');
}

function sumSizes(files: readonly RepositoryFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

function isWeight({ path }: RepositoryFile): boolean {
  return path.endsWith('.safetensors');
}

async function fetchFiles(
  connection: Connection,
  store: Store,
  listing: RepositoryListing,
  files: readonly RepositoryFile[],
  onProgress: PullOptions['onProgress'],
): Promise<void> {
  const report = makeReporter(files, onProgress);
  await mkdir(store.folder, { recursive: true });
  const absent: RepositoryFile[] = [];
  for (const file of files) {
    connection.signal?.throwIfAborted();
    if (await store.has(file)) {
      await store.finish(file);
      report(file, file.size, true);
    } else absent.push(file);
  }
  checkSpace(connection, store, absent);
  // One failure stops the files that are still on their way: they go on from there the next time.
  const stop = new AbortController();
  const signal = connection.signal === undefined ? stop.signal : AbortSignal.any([connection.signal, stop.signal]);
  const stoppable = { ...connection, signal };
  const fetchOne = async (file: RepositoryFile) => {
    const [incomplete, destination] = [store.incomplete(file), store.destination(file)];
    await mkdir(dirname(incomplete), { recursive: true });
    await mkdir(dirname(destination), { recursive: true });
    await withFileLock(`${incomplete}.lock`, signal, async () => {
      // Another process may have fetched it while this one waited.
      if (await store.has(file)) return;
      await rm(destination, { force: true });
      const path = file.path.split('/').map(encodeURIComponent).join('/');
      const url = `${connection.endpoint}/${connection.repo}/resolve/${listing.commit}/${path}`;
      await downloadFile(stoppable, {
        url,
        file,
        incomplete,
        destination,
        onBytes: (bytes) => report(file, bytes, false),
      });
    });
    await store.finish(file);
    report(file, file.size, true);
  };
  await forEachParallel(
    absent.filter((file) => !isWeight(file)),
    stop,
    fetchOne,
  );
  await forEachParallel(absent.filter(isWeight), stop, fetchOne);
}

function checkSpace(connection: Connection, store: Store, absent: readonly RepositoryFile[]): void {
  const partial = absent.reduce(
    (sum, file) => sum + (statSync(store.incomplete(file), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  const needed = sumSizes(absent) - partial;
  const { bavail, bsize } = statfsSync(store.folder);
  const free = bavail * bsize;
  if (needed <= free) return;
  const gib = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  throw new HubError(
    'disk-full',
    `${connection.repo} needs ${gib(needed)} more, ${store.folder} has ${gib(free)} free; free some, or set HF_HOME or --local-dir to another disk`,
  );
}

/** Runs `body` on all items, a few at a time; the first failure aborts `stop` and is thrown once all have ended. */
async function forEachParallel<T>(
  items: readonly T[],
  stop: AbortController,
  body: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  let failure: { readonly error: unknown } | undefined;
  const work = async () => {
    for (let item = queue.shift(); item !== undefined && failure === undefined; item = queue.shift()) {
      try {
        await body(item);
      } catch (error) {
        failure ??= { error };
        stop.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: parallelFiles }, work));
  if (failure !== undefined) throw failure.error;
}

type Report = (file: RepositoryFile, bytes: number, isDone: boolean) => void;

function makeReporter(files: readonly RepositoryFile[], onProgress: PullOptions['onProgress']): Report {
  const totalBytes = sumSizes(files);
  const have = new Map<string, number>();
  let bytes = 0;
  let filesDone = 0;
  let last = 0;
  return (file, fileBytes, isDone) => {
    bytes += fileBytes - (have.get(file.path) ?? 0);
    have.set(file.path, fileBytes);
    if (isDone) filesDone++;
    const now = performance.now();
    if (onProgress === undefined || (!isDone && now - last < 50)) return;
    last = now;
    onProgress({ file: file.path, fileBytes, fileSize: file.size, bytes, totalBytes, filesDone, files: files.length });
  };
}
