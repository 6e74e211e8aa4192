// Artifacts on a local disk: one folder, one file each, under a name that is never used twice.
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ArtifactMissingError } from '../jobs/errors.js';
import type { ArtifactStore, ByteRange } from '../jobs/types.js';
import { moveDurably } from './durable-move.js';

const extensions: Readonly<Record<string, string>> = {
  'video/mp4': 'mp4',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'audio/wav': 'wav',
  'application/json': 'json',
  'text/plain': 'txt',
};

export class DiskArtifactStore implements ArtifactStore {
  /** @param folder made if absent; on the file system of whatever is put into it */
  constructor(readonly folder: string) {
    mkdirSync(folder, { recursive: true });
  }

  async put(path: string, mediaType: string): Promise<string> {
    const file = `${randomUUID()}.${extensions[mediaType] ?? 'bin'}`;
    await moveDurably(path, this.#path(file));
    return file;
  }

  async read(file: string, range?: ByteRange): Promise<Readable> {
    try {
      // Opened before the stream is made, so that a missing file is an error here and not in the middle of an answer.
      const handle = await open(this.#path(file), 'r');
      return handle.createReadStream(range ? { start: range.start, end: range.end } : {});
    } catch (error) {
      if (isMissing(error)) throw new ArtifactMissingError(file);
      throw error;
    }
  }

  async size(file: string): Promise<number | null> {
    try {
      return (await stat(this.#path(file))).size;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async delete(files: readonly string[]): Promise<void> {
    for (const file of files) await rm(this.#path(file), { force: true });
  }

  async list(): Promise<readonly string[]> {
    return (await readdir(this.folder)).sort();
  }

  async sweep(isOfRecord: (file: string) => boolean): Promise<readonly string[]> {
    const strays = (await this.list()).filter((file) => !isOfRecord(file));
    for (const file of strays) await rm(join(this.folder, file), { recursive: true, force: true });
    return strays;
  }

  #path(file: string): string {
    if (!/^[\w-]+\.\w+$/.test(file)) throw new RangeError(`${file} is no name of an artifact file`);
    return join(this.folder, file);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
