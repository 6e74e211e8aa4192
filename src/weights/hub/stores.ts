// Where pulled files end up: the shared cache, or plain files in a folder.
import { existsSync, statSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { linkBlob, repositoryFolder } from './cache-layout.js';
import { hashFile } from './download-file.js';
import type { RepositoryFile, RepositoryListing } from './repository-files.js';

/** Where files end up. */
export interface Store {
  readonly folder: string;
  /** Whether the file is there already, and right. */
  has(file: RepositoryFile): Promise<boolean>;
  incomplete(file: RepositoryFile): string;
  destination(file: RepositoryFile): string;
  /** After the download, and for files that were there. */
  finish(file: RepositoryFile): Promise<void>;
}

/** The hub's cache: blobs named by checksum, linked into a snapshot. */
export class CacheStore implements Store {
  readonly folder: string;
  readonly #blobs: string;

  constructor(cacheDir: string, repo: string, listing: RepositoryListing) {
    const root = repositoryFolder(resolve(cacheDir), repo);
    this.folder = join(root, 'snapshots', listing.commit);
    this.#blobs = join(root, 'blobs');
  }

  // Blobs are named by their checksum and only renamed into place once that was right.
  has(file: RepositoryFile): Promise<boolean> {
    const blob = this.destination(file);
    return Promise.resolve(existsSync(blob) && statSync(blob).size === file.size);
  }

  incomplete(file: RepositoryFile): string {
    return `${this.destination(file)}.incomplete`;
  }

  destination(file: RepositoryFile): string {
    return join(this.#blobs, file.checksum.hex);
  }

  finish(file: RepositoryFile): Promise<void> {
    return linkBlob(this.destination(file), join(this.folder, file.path));
  }
}

/** Plain files, each with a note that says which version it is, as other hub clients write it: commit, checksum, time. */
export class FolderStore implements Store {
  constructor(
    readonly folder: string,
    private readonly listing: RepositoryListing,
  ) {}

  async has(file: RepositoryFile): Promise<boolean> {
    const status = await stat(this.destination(file)).catch(() => undefined);
    if (status === undefined || status.size !== file.size) return false;
    const note = await readFile(`${this.#note(file)}.metadata`, 'utf8').catch(() => '');
    const [, hex, time] = note.split('\n');
    if (hex === file.checksum.hex && status.mtimeMs / 1000 <= Number(time) + 1) return true;
    return (await hashFile(this.destination(file), file.size, file.checksum.algorithm)) === file.checksum.hex;
  }

  incomplete(file: RepositoryFile): string {
    return `${this.#note(file)}.${file.checksum.hex}.incomplete`;
  }

  destination(file: RepositoryFile): string {
    return join(this.folder, file.path);
  }

  async finish(file: RepositoryFile): Promise<void> {
    const note = `${this.#note(file)}.metadata`;
    await mkdir(dirname(note), { recursive: true });
    await writeFile(note, `${this.listing.commit}\n${file.checksum.hex}\n${Date.now() / 1000}\n`);
  }

  #note(file: RepositoryFile): string {
    return join(this.folder, '.cache', 'huggingface', 'download', file.path);
  }
}
