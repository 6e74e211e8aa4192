// Compiled kernels on disk: written to a name of their own, then renamed, so that two processes cannot spoil each other's.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KernelText } from '../kernels/sources.js';

const checksumBytes = 32;

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest();

/** What decides a compiled image: source, headers, options (the architecture among them) and the compiler's version. */
export function imageKey({ source, headers }: KernelText, options: readonly string[], version: string): string {
  const parts = [source, ...headers.flatMap(({ name, text }) => [name, text]), ...options, version];
  return sha256(JSON.stringify(parts)).toString('hex').slice(0, 40);
}

export class ImageCache {
  #folder: string | null;
  readonly #extension: string;
  #writes = 0;

  /** @param folder null keeps nothing on disk. */
  constructor(folder: string | null, extension = 'cubin') {
    this.#folder = folder;
    this.#extension = extension;
  }

  /** The image kept under a key; null where there is none or the file is damaged. */
  read(key: string): Uint8Array | null {
    if (this.#folder === null) return null;
    try {
      const bytes = readFileSync(join(this.#folder, `${key}.${this.#extension}`));
      const image = bytes.subarray(checksumBytes);
      // A copy of its own begins where the driver wants images to begin.
      return sha256(image).equals(bytes.subarray(0, checksumBytes)) ? Uint8Array.from(image) : null;
    } catch {
      return null;
    }
  }

  /** Keeps an image. A folder that cannot be written to is not used again: the cache saves time, nothing depends on it. */
  write(key: string, image: Uint8Array): void {
    if (this.#folder === null) return;
    const name = join(this.#folder, `${key}.${this.#extension}`);
    const own = `${name}.${process.pid}.${this.#writes++}`;
    try {
      mkdirSync(this.#folder, { recursive: true });
      writeFileSync(own, Buffer.concat([sha256(image), image]));
      renameSync(own, name);
    } catch {
      this.#folder = null;
      discard(own);
    }
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It was never made.
  }
}
