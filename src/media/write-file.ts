// Writes files whole or not at all: a temporary sibling, flushed to disk, then renamed.
import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileError } from './media-error.js';

/**
 * Calls `write` with the path of an empty temporary file beside `path`; when it returns, flushes the file and renames it
 * to `path`. On any error the temporary file is removed, `path` stays as it was, and the error is thrown: those of the
 * file system as MediaError (`unwritable`, `disk_full`), others as they are.
 */
export async function writeThroughTemporary<T>(path: string, write: (temporary: string) => Promise<T>): Promise<T> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.part`);
  try {
    await (await open(temporary, 'wx')).close();
  } catch (error) {
    throw fileError(error, 'write', path);
  }
  try {
    const result = await write(temporary);
    await commit(temporary, path);
    return result;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Writes `bytes` to `path`, whole or not at all. Throws MediaError `unwritable` or `disk_full`. */
export async function writeBytes(path: string, bytes: Uint8Array): Promise<void> {
  await writeThroughTemporary(path, async (temporary) => {
    try {
      const file = await open(temporary, 'w');
      try {
        await file.writeFile(bytes);
      } finally {
        await file.close();
      }
    } catch (error) {
      throw fileError(error, 'write', path);
    }
  });
}

async function commit(temporary: string, path: string): Promise<void> {
  try {
    await flush(temporary, 'r+');
    await rename(temporary, path);
  } catch (error) {
    throw fileError(error, 'write', path);
  }
  // The new name itself; not every file system lets a folder be flushed.
  await flush(dirname(path), 'r').catch(() => undefined);
}

async function flush(path: string, flags: string): Promise<void> {
  const file = await open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
