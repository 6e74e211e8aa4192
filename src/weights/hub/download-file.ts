// One file: fetched by ranges, continued where an earlier try stopped, checked, and renamed only when right.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { authorise, type Connection, describeRefusal, describeSilence, isRetryable, pause } from './connection.js';
import { HubError } from './hub-error.js';
import type { Checksum, RepositoryFile } from './repository-files.js';

/** Where one file goes. */
export interface DownloadTarget {
  readonly url: string;
  readonly file: RepositoryFile;
  /** Grows while the file is fetched, and stays when that breaks off. */
  readonly incomplete: string;
  readonly destination: string;
  /** Called with the bytes there are now. */
  readonly onBytes: (bytes: number) => void;
}

/**
 * Downloads a file. A checksum that does not match removes what was fetched and starts once more.
 * @throws HubError · the signal's reason when aborted.
 */
export async function downloadFile(connection: Connection, target: DownloadTarget): Promise<void> {
  const { checksum } = target.file;
  for (let round = 0; ; round++) {
    const found = await fetchAll(connection, target);
    if (found === checksum.hex) break;
    await rm(target.incomplete, { force: true });
    target.onBytes(0);
    if (round === 1) {
      const what = `${connection.repo}/${target.file.path}`;
      throw new HubError(
        'checksum',
        `${what}: its ${checksum.algorithm} is ${found}, the hub lists ${checksum.hex}; what was fetched is removed, try again later`,
      );
    }
  }
  await rename(target.incomplete, target.destination);
}

/** The digest of a local file, in the hub's terms. */
export async function hashFile(path: string, size: number, algorithm: Checksum['algorithm']): Promise<string> {
  const hash = startHash(algorithm, size);
  await feed(hash, path);
  return hash.digest('hex');
}

// Git names a blob by the sha1 of a header with its size and its bytes.
function startHash(algorithm: Checksum['algorithm'], size: number): Hash {
  return algorithm === 'sha256' ? createHash('sha256') : createHash('sha1').update(`blob ${size}\0`);
}

async function feed(hash: Hash, path: string): Promise<void> {
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk);
}

/** A partial file with the digest of what it holds. */
class PartialFile {
  position = 0;
  #hash: Hash;

  private constructor(
    private readonly handle: FileHandle,
    private readonly target: DownloadTarget,
  ) {
    this.#hash = this.#startHash();
  }

  static async open(target: DownloadTarget): Promise<PartialFile> {
    const partial = new PartialFile(await open(target.incomplete, 'a'), target);
    const { size } = await partial.handle.stat();
    if (size > target.file.size) await partial.restart();
    else if (size > 0) {
      await feed(partial.#hash, target.incomplete);
      partial.position = size;
    }
    return partial;
  }

  async restart(): Promise<void> {
    await this.handle.truncate(0);
    this.#hash = this.#startHash();
    this.position = 0;
  }

  async append(chunk: Uint8Array): Promise<void> {
    await this.handle.writeFile(chunk);
    this.#hash.update(chunk);
    this.position += chunk.length;
    this.target.onBytes(this.position);
  }

  digest(): string {
    return this.#hash.digest('hex');
  }

  close(): Promise<void> {
    return this.handle.close();
  }

  #startHash(): Hash {
    return startHash(this.target.file.checksum.algorithm, this.target.file.size);
  }
}

/** Fetches what is missing of a file and returns the digest of all of it. */
async function fetchAll(connection: Connection, target: DownloadTarget): Promise<string> {
  const what = `${connection.repo}/${target.file.path}`;
  const partial = await PartialFile.open(target);
  try {
    target.onBytes(partial.position);
    let failures = 0;
    while (partial.position < target.file.size) {
      const before = partial.position;
      const failed = await fetchRange(connection, target, partial);
      if (partial.position >= target.file.size) break;
      failures = partial.position > before ? 1 : failures + 1;
      if (failures >= connection.attempts) {
        throw failed instanceof Response
          ? describeRefusal(connection, what, failed)
          : describeSilence(connection, what, failed);
      }
      await pause(connection, failures, failed instanceof Response ? failed : undefined);
    }
    return partial.digest();
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')) {
      const left = target.file.size - partial.position;
      throw new HubError(
        'disk-full',
        `${what}: no space left for ${left} more bytes at ${target.incomplete}; free some, or set HF_HOME or --local-dir to another disk`,
        { cause: error },
      );
    }
    throw error;
  } finally {
    await partial.close();
  }
}

/**
 * One request for the rest of a file, written as it comes.
 * @returns what ended it early, for another try: a refusal that may pass, or the broken connection's error.
 */
async function fetchRange(connection: Connection, target: DownloadTarget, partial: PartialFile): Promise<unknown> {
  const stall = new AbortController();
  const timer = setTimeout(
    () => stall.abort(new Error(`no data for ${connection.stallTimeout / 1000} s`)),
    connection.stallTimeout,
  );
  const { signal } = connection;
  try {
    const headers = authorise(connection, { 'accept-encoding': 'identity' });
    if (partial.position > 0) headers.set('range', `bytes=${partial.position}-`);
    const response = await fetch(target.url, {
      headers,
      signal: signal === undefined ? stall.signal : AbortSignal.any([stall.signal, signal]),
    });
    if (response.status === 416) await partial.restart();
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      if (isRetryable(response.status) || response.status === 416) return response;
      throw describeRefusal(connection, `${connection.repo}/${target.file.path}`, response);
    }
    const start =
      response.status === 206 ? /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1] : '0';
    if (Number(start) !== partial.position) {
      await partial.restart();
      if (response.status === 206) {
        await response.body.cancel();
        return new Error('the hub sent another range than the one asked for');
      }
    }
    for await (const chunk of response.body) {
      timer.refresh();
      // More than was listed can never match: the digest says so.
      await partial.append(chunk);
      if (partial.position > target.file.size) break;
    }
    return new Error('the connection ended early');
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof HubError || isFileError(error)) throw error;
    return stall.signal.aborted ? stall.signal.reason : error;
  } finally {
    clearTimeout(timer);
    stall.abort();
  }
}

// Errors of our own disk carry a system call; those of fetch are TypeErrors around their cause.
function isFileError(error: unknown): boolean {
  return (
    error instanceof Error &&
    'syscall' in error &&
    ['write', 'open', 'ftruncate', 'close'].includes(String(error.syscall))
  );
}
