// Files that appear together or not at all: each is written beside its place and moved there when all are done.
import { randomBytes } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { copyFile, open, readFile, realpath, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import { fileError } from '../../media/index.js';

interface StagedFile {
  readonly temporary: string;
  readonly target: string;
  /** The target is a device or a pipe: it is written into, not replaced. */
  readonly isSpecial: boolean;
}

/** A set of files being written. Disposing of it before `commit` removes them. */
export class StagedFiles implements AsyncDisposable {
  #files: StagedFile[] = [];

  // Leaving at once must not leave files behind either.
  readonly #onExit = () => {
    for (const { temporary } of this.#files) rmSync(temporary, { force: true });
  };

  constructor() {
    process.on('exit', this.#onExit);
  }

  /** A path to write instead of `path`, with the same extension. */
  async stage(path: string): Promise<string> {
    const isSpecial = statSync(path, { throwIfNoEntry: false })?.isFile() === false;
    const target = isSpecial ? path : await realpath(path).catch(() => path);
    const folder = isSpecial ? tmpdir() : dirname(target);
    const extension = extname(path);
    const name = `.${basename(path, extension)}.${randomBytes(6).toString('hex')}${extension}`;
    const temporary = join(folder, name);
    this.#files.push({ temporary, target, isSpecial });
    return temporary;
  }

  /** Moves all files to their places. @throws MediaError when one cannot be moved; then none stays half-written. */
  async commit(): Promise<void> {
    for (const { temporary, target, isSpecial } of this.#files) {
      try {
        if (isSpecial) await writeInto(temporary, target);
        else await rename(temporary, target).catch((error) => moveAcross(error, temporary, target));
      } catch (error) {
        throw fileError(error, 'write', target);
      }
    }
    await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#onExit);
    for (const { temporary } of this.#files) await rm(temporary, { force: true });
    this.#files = [];
  }
}

async function writeInto(temporary: string, target: string): Promise<void> {
  const file = await open(target, 'w');
  try {
    await file.writeFile(await readFile(temporary));
  } finally {
    await file.close();
  }
}

async function moveAcross(error: unknown, temporary: string, target: string): Promise<void> {
  if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
  await copyFile(temporary, target);
}
