// Where the files of a run are written: at their own places, or in a folder of its own that is read back and removed.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutputFile } from './output-files.js';
import { mediaTypes, type OutputTarget } from './output-target.js';

/** What a caller gets of the files. */
export interface PlacedFiles {
  readonly files: readonly OutputFile[];
  /** Content of the first file where none is kept; null otherwise. */
  readonly data: Uint8Array | null;
  readonly mediaType: string;
}

/** An open place. Disposing of it removes the folder. */
export class OutputPlace implements AsyncDisposable {
  private constructor(
    readonly targets: readonly OutputTarget[],
    readonly folder: string | null,
  ) {}

  /** @param keepsData the targets are names alone, and their content is what is wanted */
  static async open(targets: readonly OutputTarget[], keepsData: boolean): Promise<OutputPlace> {
    if (!keepsData) return new OutputPlace(targets, null);
    const folder = await mkdtemp(join(tmpdir(), 'orrery-output-'));
    return new OutputPlace(
      targets.map(({ path, kind }) => ({ path: join(folder, path), kind })),
      folder,
    );
  }

  async read(files: readonly OutputFile[]): Promise<PlacedFiles> {
    const [first] = this.targets;
    const mediaType = first === undefined ? 'application/json' : mediaTypes[first.kind];
    if (this.folder === null) return { files, data: null, mediaType };
    return { files: [], data: first === undefined ? null : await readFile(first.path), mediaType };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.folder !== null) await rm(this.folder, { recursive: true, force: true });
  }
}
